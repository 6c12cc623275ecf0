import java.io.File;
import java.util.Map;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.rdf4j.http.server.ProtocolExceptionResolver;
import org.eclipse.rdf4j.http.server.repository.RepositoryController;
import org.eclipse.rdf4j.http.server.repository.RepositoryInterceptor;
import org.eclipse.rdf4j.http.server.repository.RepositoryListController;
import org.eclipse.rdf4j.http.server.repository.graph.GraphController;
import org.eclipse.rdf4j.http.server.repository.size.SizeController;
import org.eclipse.rdf4j.http.server.repository.statements.StatementsController;
import org.eclipse.rdf4j.repository.config.RepositoryConfig;
import org.eclipse.rdf4j.repository.manager.LocalRepositoryManager;
import org.eclipse.rdf4j.repository.manager.RepositoryManager;
import org.eclipse.rdf4j.repository.sail.config.SailRepositoryConfig;
import org.eclipse.rdf4j.sail.nativerdf.config.NativeStoreConfig;
import org.springframework.web.context.support.StaticWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/**
 * RDF4J Server with one repository of its native store, at the addresses of its web application: its controllers in a
 * servlet container within this process. Usage: Rdf4jServer PORT FOLDER
 */
public final class Rdf4jServer {
  private static final String REPOSITORY = "portal";

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    LocalRepositoryManager manager = new LocalRepositoryManager(new File(arguments[1]));
    manager.init();
    if (!manager.hasRepositoryConfig(REPOSITORY))
      manager.addRepositoryConfig(
          new RepositoryConfig(
              REPOSITORY, new SailRepositoryConfig(new NativeStoreConfig("spoc,posc,cspo,cpos"))));

    ServletContextHandler web = new ServletContextHandler();
    web.setContextPath("/rdf4j-server");
    web.addServlet(new ServletHolder(new DispatcherServlet(context(manager))), "/repositories/*");
    web.setMaxFormContentSize(100_000_000);
    Server server = new Server(new java.net.InetSocketAddress("127.0.0.1", port));
    server.setHandler(web);
    server.setStopAtShutdown(true);
    Runtime.getRuntime().addShutdownHook(new Thread(manager::shutDown));
    server.start();
    server.join();
  }

  private static StaticWebApplicationContext context(RepositoryManager manager) {
    StaticWebApplicationContext context = new StaticWebApplicationContext();
    RepositoryListController list = new RepositoryListController();
    list.setRepositoryManager(manager);
    RepositoryController repository = new RepositoryController();
    repository.setRepositoryManager(manager);
    Map<String, Object> controllers =
        Map.of(
            "/repositories", list,
            "/repositories/*", repository,
            "/repositories/*/statements", new StatementsController(),
            "/repositories/*/rdf-graphs/*", new GraphController(),
            "/repositories/*/size", new SizeController());
    context.registerBean("mapping", SimpleUrlHandlerMapping.class, () -> mapping(controllers, manager));
    context.registerBean("faults", ProtocolExceptionResolver.class, ProtocolExceptionResolver::new);
    return context;
  }

  private static SimpleUrlHandlerMapping mapping(Map<String, Object> controllers, RepositoryManager manager) {
    SimpleUrlHandlerMapping mapping = new SimpleUrlHandlerMapping();
    mapping.setAlwaysUseFullPath(true);
    mapping.setPatternParser(null);
    mapping.setUrlMap(controllers);
    mapping.setInterceptors(new EachRequest(manager));
    return mapping;
  }

  /** An interceptor keeps what it knows of one request, so each request has one. */
  private record EachRequest(RepositoryManager manager) implements HandlerInterceptor {
    private static final String KEY = EachRequest.class.getName();

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
        throws Exception {
      RepositoryInterceptor interceptor = new RepositoryInterceptor();
      interceptor.setRepositoryManager(manager);
      request.setAttribute(KEY, interceptor);
      return interceptor.preHandle(request, response, handler);
    }

    @Override
    public void afterCompletion(
        HttpServletRequest request, HttpServletResponse response, Object handler, Exception error)
        throws Exception {
      RepositoryInterceptor interceptor = (RepositoryInterceptor) request.getAttribute(KEY);
      if (interceptor != null) interceptor.afterCompletion(request, response, handler, error);
    }
  }
}
