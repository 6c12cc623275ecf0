import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Calendar;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.olingo.odata2.api.edm.Edm;
import org.apache.olingo.odata2.api.edm.EdmEntitySet;
import org.apache.olingo.odata2.api.ep.EntityProvider;
import org.apache.olingo.odata2.api.ep.EntityProviderReadProperties;
import org.apache.olingo.odata2.api.ep.entry.ODataEntry;
import org.apache.olingo.odata2.api.ep.feed.ODataFeed;

/** `java -cp … Read.java ROOT atom|json`: reads all entity sets of a service of OData 2.0. */
public final class Read {
  /** Atom gives the fields of a date, JSON its moment: in a calendar that was Julian once they differ. */
  private static boolean atom;

  public static void main(String[] args) throws Exception {
    URI root = URI.create(args[0] + "/");
    atom = args[1].equals("atom");
    String type = args[1].equals("atom") ? "application/atom+xml" : "application/json";
    Edm edm;
    try (InputStream body = get(root.resolve("$metadata"), "application/xml")) {
      edm = EntityProvider.readMetadata(body, true);
    }
    String documentType = args[1].equals("atom") ? "application/atomsvc+xml" : type;
    try (InputStream body = get(root, documentType)) {
      int named = EntityProvider.readServiceDocument(body, documentType).getEntitySetsInfo().size();
      if (named != edm.getEntitySets().size()) throw new IllegalStateException(named + " sets in the service document");
    }
    for (EdmEntitySet set : edm.getEntitySets()) {
      URI next = root.resolve(set.getName());
      while (next != null) {
        ODataFeed feed;
        try (InputStream body = get(next, type)) {
          feed = EntityProvider.readFeed(type, set, body, EntityProviderReadProperties.init().build());
        }
        for (ODataEntry entry : feed.getEntries()) Lines.write(set.getName(), plain(entry.getProperties()));
        String link = feed.getFeedMetadata().getNextLink();
        next = link == null ? null : root.resolve(link);
      }
    }
    Lines.end();
  }

  private static Map<String, Object> plain(Map<?, ?> values) {
    Map<String, Object> record = new LinkedHashMap<>();
    for (Map.Entry<?, ?> member : values.entrySet()) record.put(String.valueOf(member.getKey()), plain(member.getValue()));
    return record;
  }

  private static Object plain(Object value) {
    if (value instanceof Map) return plain((Map<?, ?>) value);
    if (!(value instanceof Calendar)) return value;
    Calendar moment = (Calendar) value;
    return atom ? String.format("%1$tFT%1$tT.%1$tLZ", moment) : moment.toInstant();
  }

  private static InputStream get(URI address, String accept) throws Exception {
    HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
    connection.setRequestProperty("Accept", accept);
    connection.setRequestProperty("DataServiceVersion", "2.0");
    connection.setRequestProperty("MaxDataServiceVersion", "2.0");
    return connection.getInputStream();
  }
}
