from zermelo.cext.definition_small import PASS as PASS
from zermelo.cext.definition_small import Core as Core
