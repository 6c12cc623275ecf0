import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.olingo.client.api.ODataClient;
import org.apache.olingo.client.api.communication.request.retrieve.ODataEntitySetRequest;
import org.apache.olingo.client.api.domain.ClientEntity;
import org.apache.olingo.client.api.domain.ClientEntitySet;
import org.apache.olingo.client.api.domain.ClientProperty;
import org.apache.olingo.client.api.domain.ClientValue;
import org.apache.olingo.client.core.ODataClientFactory;
import org.apache.olingo.commons.api.edm.Edm;
import org.apache.olingo.commons.api.edm.EdmEntitySet;
import org.apache.olingo.commons.api.format.ContentType;

/** `java -cp … Read.java ROOT atom|json`: reads all entity sets of a service of OData 4.0. */
public final class Read {
  public static void main(String[] args) throws Exception {
    ODataClient client = ODataClientFactory.getClient();
    Edm edm = client.getRetrieveRequestFactory().getMetadataRequest(args[0]).execute().getBody();
    for (String vocabulary : new String[] {"Core", "Capabilities", "Aggregation"})
      if (edm.getSchema("Org.OData." + vocabulary + ".V1") == null)
        throw new IllegalStateException("no vocabulary " + vocabulary);
    int named = client.getRetrieveRequestFactory().getServiceDocumentRequest(args[0]).execute().getBody().getEntitySets().size();
    List<String> sets = new ArrayList<>();
    for (EdmEntitySet set : edm.getEntityContainer().getEntitySets()) {
      set.getEntityType().getPropertyNames().forEach(name -> set.getEntityType().getProperty(name).getType().getName());
      sets.add(set.getName());
    }
    if (named != sets.size()) throw new IllegalStateException(named + " sets in the service document, " + sets.size() + " in the model");
    for (String set : sets) {
      URI next = client.newURIBuilder(args[0]).appendEntitySetSegment(set).build();
      while (next != null) {
        ODataEntitySetRequest<ClientEntitySet> request = client.getRetrieveRequestFactory().getEntitySetRequest(next);
        request.setFormat(args[1].equals("atom") ? ContentType.APPLICATION_ATOM_XML : ContentType.JSON_FULL_METADATA);
        ClientEntitySet page = request.execute().getBody();
        for (ClientEntity entity : page.getEntities()) Lines.write(set, plain(entity.getProperties()));
        next = page.getNext();
      }
    }
    Lines.end();
  }

  private static Map<String, Object> plain(Iterable<ClientProperty> properties) {
    Map<String, Object> record = new LinkedHashMap<>();
    for (ClientProperty property : properties) record.put(property.getName(), value(property.getValue()));
    return record;
  }

  private static Object value(ClientValue value) {
    if (value == null) return null;
    if (value.isComplex()) return plain(value.asComplex());
    if (value.isCollection()) {
      List<Object> items = new ArrayList<>();
      for (ClientValue item : value.asCollection()) items.add(value(item));
      return items;
    }
    Object plain = value.isPrimitive() ? value.asPrimitive().toValue() : value;
    return plain == null || plain instanceof Boolean ? plain : value.toString();
  }
}
