"""read_python_odata.py ROOT: reads all entity sets of a service of OData 4.0 with python-odata."""

import json
import sys

from odata import ODataService

service = ODataService(sys.argv[1], reflect_entities=True, quiet_progress=True)
for name, entity_set in service.entities.items():
    for entity in service.query(entity_set):
        print(json.dumps([name, entity.__odata__.data], default=str))
