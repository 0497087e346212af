import java.net.*;
import java.net.http.*;
import java.nio.charset.*;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

class Client {
	public static void main(String[] none) throws Exception {
		var env = System.getenv();
		var name = env.get("NAME");
		var json = "{\"status\":\"PAID\",\"name\":\"" + name + "\"}";
		var part = "--x\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n";
		var charset = switch (env.get("KIND")) {
			case "latin1" -> StandardCharsets.ISO_8859_1;
			case "gbk" -> Charset.forName("GBK");
			case "korean" -> Charset.forName("MS949");
			default -> StandardCharsets.UTF_8;
		};
		var encoded = URLEncoder.encode(name, charset);
		var typeAndBody = switch (env.get("KIND")) {
			case "json" -> new String[] { "application/json", json };
			case "latin1" -> new String[] { "application/json; charset=ISO-8859-1", json };
			case "form" -> new String[] { "application/x-www-form-urlencoded",
				"status=PAID&name=" + encoded };
			// What Java calls these charsets.
			case "gbk" -> new String[] { "application/x-www-form-urlencoded; charset=" + charset.name(),
				"status=PAID&name=" + encoded };
			case "korean" -> new String[] { "application/json; charset=" + charset.name(), json };
			case "nested" -> new String[] { "application/x-www-form-urlencoded",
				"status=PAID&" + URLEncoder.encode("payer[name]", charset) + "=" + encoded
					+ "&payer%5Btags%5D%5B%5D=a&payer%5Btags%5D%5B%5D=b" };
			case "multipart" -> new String[] { "multipart/form-data; boundary=x",
				part.formatted("status", "PAID") + part.formatted("name", name) + "--x--\r\n" };
			default -> new String[] { "application/xml", env.get("XML") };
		};
		var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null, null);
		try (var pem = Files.newInputStream(Path.of(env.get("CA")))) {
			var certificate = CertificateFactory.getInstance("X.509").generateCertificate(pem);
			trusted.setCertificateEntry("ca", certificate);
		}
		var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		trust.init(trusted);
		var tls = SSLContext.getInstance("TLS");
		tls.init(null, trust.getTrustManagers(), null);
		var request = HttpRequest.newBuilder(URI.create(env.get("URL")))
			.header("Content-Type", typeAndBody[0])
			.POST(HttpRequest.BodyPublishers.ofString(typeAndBody[1], charset))
			.build();
		var client = HttpClient.newBuilder().sslContext(tls).build();
		System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
	}
}
