"""Solve a board with all services on this machine, then query the tree. Needs zermelo[server].

    python distributed_solve.py FOLDER

`zermelo solve` starts a PostgreSQL in FOLDER, the four services and a client. A public project runs
the same services on several machines; the queries are the same.
"""

import subprocess
import sys

import zermelo

#: Workunits of at most a tenth of a second, so that this small board is split at all.
SOLVE = ["zermelo", "solve", "reversi:4x6", "--target-seconds", "0.1"]

folder = sys.argv[1]
subprocess.run([*SOLVE, "--data-dir", folder], check=True)

with zermelo.open(data_dir=folder) as campaigns:
    campaign = campaigns.campaign("reversi:4x6")
    root = campaign.position()
    print("root:", root.worth)
    for move in root.moves:
        print(f"  {move.move}: {move.worth}{' (best)' if move.best else ''}")
    print("line:", *(step.move for step in campaign.line()))
    for user in campaign.contributors():
        print(f"{user.results} results, {user.nodes:,} nodes")
