"""Which plane sets there are: a new one is a file with its encoder, and a line here."""

from nn.feature import BASIC, PlaneSet
from nn.katago_feature import KATAGO_PLANES, encode_katago, new_katago_work
from nn.rich_feature import RICH

KATAGO = PlaneSet("katago", KATAGO_PLANES, looks_back=True, knows_ko=True, encode=encode_katago,
                  new_work=new_katago_work)
PLANE_SETS: dict[str, PlaneSet] = {plane_set.name: plane_set for plane_set in (BASIC, RICH, KATAGO)}
