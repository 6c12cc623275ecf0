import sys

from ods_explore import exceptions
from ods_explore import language as lang
from ods_explore.opendatasoft import Opendatasoft
from ods_explore.query import Q

WINDOW = 10_000

base = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000"
catalog = Opendatasoft(base_url=base).catalog

datasets = catalog.datasets.all()
assert len(datasets) == catalog.datasets.count() > 0
assert catalog.datasets.order_by("-records_count").first().metas["default"]["records_count"] > 0
assert catalog.datasets.filter(features="geo").count() == sum("geo" in each.features for each in datasets)
for dataset in datasets:
    one = catalog.dataset(dataset.dataset_id)
    assert one.get() == dataset, dataset.dataset_id
    count = one.records.count()
    records = one.records.all() if count <= WINDOW else one.records.get(limit=100)
    assert len({record.id for record in records}) == min(count, 100 if count > WINDOW else count)
    assert one.record(records[0].id).get() == records[0]
    assert one.records.aggregate(n=lang.count()) == {"n": count}
    print(dataset.dataset_id, count)

cities = catalog.dataset("cities").records
large = cities.filter(population__gt=5_000_000).exclude(name="Shanghai").order_by("-population")
assert all(record.fields["population"] > 5_000_000 for record in large.select("name", "population").get(limit=5))
assert cities.filter(Q(country_code="FR") & ~Q(population__lt=500_000)).count() > 0
assert cities.refine(country_code="FR").count() == cities.filter(country_code="FR").count()
assert cities.ignore(country_code__in=["FR", "DE"]).count() < cities.count()
circle = lang.circle(lang.geom("POINT(2.35 48.85)"), 10, lang.Unit.KILOMETERS)
assert cities.filter(coordinates__inarea=circle).count() > 0
for ask, fault in (
    (lambda: catalog.dataset("nothing").get(), exceptions.NotFoundError),
    (lambda: cities.filter("x = 1").get(), exceptions.BadRequestError),
):
    try:
        ask()
        raise AssertionError(fault)
    except fault:
        pass
print("fine")
