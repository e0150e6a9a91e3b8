#!/bin/bash
#SBATCH --job-name=zermelo
#SBATCH --array=0-99
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --nice=10000
# A minute before the time is up, so that the client can finish or save and hand back.
#SBATCH --signal=B:TERM@60
#
# One client per task: sbatch --export=ALL,ZERMELO_SERVER=host:1913 deploy/client/slurm-array.sh
#
# ZERMELO_TOKEN, ZERMELO_CA_FILE and all other options work the same way. Every task has a
# folder of its own and keeps it when it is requeued; ZERMELO_ROOT says where.
set -eu

: "${ZERMELO_SERVER:?which coordinator? sbatch --export=ALL,ZERMELO_SERVER=host:1913 ...}"
root=${ZERMELO_ROOT:-$HOME/zermelo-array}
export ZERMELO_DATA_DIR=$root/task-${SLURM_ARRAY_TASK_ID:-0}
export ZERMELO_WORKERS=${ZERMELO_WORKERS:-${SLURM_CPUS_PER_TASK:-1}}
mkdir -p "$ZERMELO_DATA_DIR"

# In the background, because a shell hears a signal only between commands.
"${ZERMELO:-zermelo}" client run &
client=$!
trap 'kill -TERM "$client" 2>/dev/null || true' TERM INT
# The first wait ends with the signal, the second with the client.
wait "$client" && code=0 || code=$?
if kill -0 "$client" 2>/dev/null; then
    wait "$client" && code=0 || code=$?
fi
exit "$code"
