"""Leases: from a host's call for work to its result. `LeaseManager` is the only door.

| module            | what it knows                                                             |
| ----------------- | ------------------------------------------------------------------------- |
| `manager`         | the door; what comes together shares a statement                           |
| `queue`           | the calls that wait for work                                               |
| `assigner`        | which workunits go to which calls, and with which node budget              |
| `quota`           | how many more leases a host or a user may have                             |
| `told`            | who was told that there is no room for more, and until when                |
| `second_opinions` | workunits that are asked again, and probes                                 |
| `prefetch`        | workunits taken out of the queue ahead of calls                            |
| `store`           | the statements about leases, and the write-behind of leases from memory    |
| `rows`            | what goes into these statements and what comes out of them                 |
"""

from zermelo.server.coordinator.leases.manager import LeaseManager
from zermelo.server.coordinator.leases.rows import (
    Directive,
    HostId,
    Leased,
    LeaseId,
    Progress,
    Question,
    Request,
    Returned,
)

__all__ = [
    "Directive",
    "HostId",
    "LeaseId",
    "LeaseManager",
    "Leased",
    "Progress",
    "Question",
    "Request",
    "Returned",
]
