"""read_pyodata.py ROOT: reads all entity sets of a service of OData 2.0 with pyodata."""

import json
import sys

import pyodata
import requests
from pyodata.v2.model import Config

session = requests.Session()
session.headers["MaxDataServiceVersion"] = "2.0"
client = pyodata.Client(sys.argv[1], session, config=Config(retain_null=True))


def plain(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value


for entity_set in client.schema.entity_sets:
    names = [each.name for each in entity_set.entity_type.proprties()]
    page = getattr(client.entity_sets, entity_set.name).get_entities().execute()
    while True:
        for entity in page:
            # An entity has an attribute url of its own, which hides the property.
            print(json.dumps([entity_set.name, {name: plain(entity._cache[name]) for name in names}]))
        if page.next_url is None:
            break
        page = getattr(client.entity_sets, entity_set.name).get_entities().next_url(page.next_url).execute()
