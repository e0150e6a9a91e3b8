from zermelo.cext.definition_small_plain import PASS as PASS
from zermelo.cext.definition_small_plain import Core as Core
