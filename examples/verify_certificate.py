"""Verify a certificate, as a stranger would: python verify_certificate.py FILE.

The checker shares no search code with the engine. `zermelo proof export` makes such a file.
"""

import sys
from pathlib import Path

from zermelo import ZermeloError
from zermelo.checker.verify import verify

try:
    report = verify(Path(sys.argv[1]))
except ZermeloError as error:
    sys.exit(f"refused: {error}")
header = report.header
print(f"{header.game}: {header.lo} <= score <= {header.hi}")
print(f"{report.entries} entries follow, all {report.leaves} leaves were searched again")
