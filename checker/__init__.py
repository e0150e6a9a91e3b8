"""An independent checker for certificates: the file format, plain rules, a simple solver.

It imports nothing of ours but `games`, so that believing a certificate needs no trust in
the engines, the services or the database that made it.
"""

from zermelo.checker.certificate import Certificate, CertificateError, Entry, Header, Leaf
from zermelo.checker.certificate_file import read_certificate, write_certificate
from zermelo.checker.refusals import Refusal, RefusedError
from zermelo.checker.verify import Report, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "Entry",
    "Header",
    "Leaf",
    "Refusal",
    "RefusedError",
    "Report",
    "read_certificate",
    "verify",
    "write_certificate",
]
