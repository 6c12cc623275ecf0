@path: '/odata/v4/portal'
@requires: 'any'
service Portal {
  @readonly
  entity cities {
    key recordid: String(40);
    record_timestamp: Timestamp;
    geonameid: Int64;
    name: String;
    alternate_names: array of String;
    country_code: String(2);
    feature_code: String(10);
    admin1_code: String(20);
    population: Int64;
    coordinates_latitude: Double;
    coordinates_longitude: Double;
  }
}
