"""The messages and the service that clients and coordinator share: `zermelo.v1`."""
