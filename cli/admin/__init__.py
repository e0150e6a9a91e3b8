"""`zermelo admin`: look at a running project, and act on it."""

from zermelo.cli.admin import accounts, acting, looking, project
from zermelo.cli.admin.asking import admin

__all__ = ["accounts", "acting", "admin", "looking", "project"]
