import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.olingo.client.api.communication.request.retrieve.EdmMetadataRequest;
import org.apache.olingo.client.api.communication.request.retrieve.ODataEntitySetRequest;
import org.apache.olingo.client.api.v3.ODataClient;
import org.apache.olingo.client.core.ODataClientFactory;
import org.apache.olingo.commons.api.domain.CommonODataEntity;
import org.apache.olingo.commons.api.domain.CommonODataProperty;
import org.apache.olingo.commons.api.domain.ODataValue;
import org.apache.olingo.commons.api.domain.v3.ODataEntitySet;
import org.apache.olingo.commons.api.edm.Edm;
import org.apache.olingo.commons.api.edm.EdmEntityContainer;
import org.apache.olingo.commons.api.edm.EdmEntitySet;
import org.apache.olingo.commons.api.format.ODataFormat;

/** `java -cp … Read.java ROOT atom|json`: reads all entity sets of a service of OData 3.0. */
public final class Read {
  public static void main(String[] args) throws Exception {
    ODataClient client = ODataClientFactory.getV3();
    EdmMetadataRequest metadata = client.getRetrieveRequestFactory().getMetadataRequest(args[0]);
    Edm edm = metadata.execute().getBody();
    int named = client.getRetrieveRequestFactory().getServiceDocumentRequest(args[0]).execute().getBody().getEntitySets().size();
    List<String> sets = new ArrayList<>();
    for (var schema : edm.getSchemas()) {
      EdmEntityContainer container = schema.getEntityContainer();
      if (container == null) continue;
      for (EdmEntitySet set : container.getEntitySets()) {
        set.getEntityType().getPropertyNames().forEach(name -> set.getEntityType().getProperty(name).getType().getName());
        sets.add(set.getName());
      }
    }
    if (named != sets.size()) throw new IllegalStateException(named + " sets in the service document, " + sets.size() + " in the model");
    for (String set : sets) {
      URI next = client.newURIBuilder(args[0]).appendEntitySetSegment(set).build();
      while (next != null) {
        ODataEntitySetRequest<ODataEntitySet> request = client.getRetrieveRequestFactory().getEntitySetRequest(next);
        request.setFormat(args[1].equals("atom") ? ODataFormat.ATOM : ODataFormat.JSON_FULL_METADATA);
        ODataEntitySet page = request.execute().getBody();
        for (CommonODataEntity entity : page.getEntities()) Lines.write(set, plain(entity.getProperties()));
        next = page.getNext();
      }
    }
    Lines.end();
  }

  private static Map<String, Object> plain(Iterable<? extends CommonODataProperty> properties) {
    Map<String, Object> record = new LinkedHashMap<>();
    for (CommonODataProperty property : properties) record.put(property.getName(), value(property.getValue()));
    return record;
  }

  private static Object value(ODataValue value) {
    if (value == null) return null;
    if (value.isComplex()) return plain(value.<CommonODataProperty>asComplex());
    if (value.isCollection()) {
      List<Object> items = new ArrayList<>();
      for (ODataValue item : value.asCollection()) items.add(value(item));
      return items;
    }
    Object plain = value.isPrimitive() ? value.asPrimitive().toValue() : value;
    return plain == null || plain instanceof Boolean ? plain : value.toString();
  }
}
