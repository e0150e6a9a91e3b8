from zermelo.cext.reversi_plain import INSTRUCTIONS as INSTRUCTIONS
from zermelo.cext.reversi_plain import METHODS as METHODS
from zermelo.cext.reversi_plain import ORDERS as ORDERS
from zermelo.cext.reversi_plain import Core as Core
