"""An independent checker for certificates: the file format, plain rules, a simple solver.

It imports nothing of ours but `games`, so that believing a certificate needs no trust in
the engines, the services or the database that made it.
"""

from zermelo.checker.certificate import (
    Certificate,
    CertificateError,
    DamagedError,
    Entry,
    Header,
    Leaf,
    LimitError,
)
from zermelo.checker.certificate_file import write_certificate
from zermelo.checker.certificate_reader import read_certificate
from zermelo.checker.refusals import Refusal, RefusedError
from zermelo.checker.verify import Report, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "DamagedError",
    "Entry",
    "Header",
    "Leaf",
    "LimitError",
    "Refusal",
    "RefusedError",
    "Report",
    "read_certificate",
    "verify",
    "write_certificate",
]
