import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;

/** Writes one line of JSON a record: the name of its set, and its values by their names. */
final class Lines {
  private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  private Lines() {}

  static void write(String set, Map<String, ?> record) {
    StringBuilder line = new StringBuilder("[");
    text(line, set);
    line.append(',');
    value(line, record);
    OUT.append(line).append("]\n");
  }

  static void end() {
    OUT.flush();
  }

  private static void value(StringBuilder to, Object value) {
    if (value == null || value instanceof Boolean) {
      to.append(value);
    } else if (value instanceof Map) {
      String before = "{";
      for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
        text(to.append(before), String.valueOf(member.getKey()));
        value(to.append(':'), member.getValue());
        before = ",";
      }
      to.append(before.equals("{") ? "{}" : "}");
    } else if (value instanceof Collection) {
      String before = "[";
      for (Object item : (Collection<?>) value) {
        value(to.append(before), item);
        before = ",";
      }
      to.append(before.equals("[") ? "[]" : "]");
    } else {
      text(to, String.valueOf(value));
    }
  }

  private static void text(StringBuilder to, String text) {
    to.append('"');
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') to.append('\\').append(c);
      else if (c < ' ') to.append(String.format("\\u%04x", (int) c));
      else to.append(c);
    }
    to.append('"');
  }
}
