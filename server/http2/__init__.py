"""gRPC over HTTP/2 on the event loop: the part of it that a coordinator needs, and no thread.

| module       | what it knows                                                                   |
| ------------ | ------------------------------------------------------------------------------- |
| `frames`     | how frames are written, and their numbers                                       |
| `hpack`      | how headers are written and read                                                |
| `calls`      | one call: its request as it comes, its replies, the status at its end           |
| `connection` | one connection: frames to calls, windows both ways, what a peer may not do      |
| `server`     | all connections: which function serves a call, what takes too long, the end     |

Nothing of Zermelo is known here. Why there is such a thing: docs/decisions/0042.
"""
