import type { Span } from "../../src/observability/core/traces/span.ts";
import { seeded } from "./metric-world.ts";

/** Spans that look like those of a web app: requests with a query or two, and now and then an error. */
export function traceWorld(seed = 1, beginUs = 1_700_000_000_000_000) {
  const random = seeded(seed);
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  let atUs = beginUs;

  function trace(): Span[] {
    const id = hex(32);
    atUs += Math.floor(random() * 20_000);
    const route = pick(["/", "/cart", "/pay", "/products/{id}", "/search"]);
    const failed = random() < 0.02;
    const durationUs = Math.floor(2_000 + 200_000 * random() ** 4);
    const common = { trace: id, message: "", service: "web", replica: "a1b2", events: [] };
    const root: Span = {
      ...common,
      ...{ id: hex(16), parent: "", name: `GET ${route}`, kind: "server", atUs, durationUs, error: failed },
      attributes: {
        "http.request.method": "GET",
        "http.route": route,
        "url.path": route.replace("{id}", String(Math.floor(random() * 1e5))),
        "http.response.status_code": failed ? 500 : 200,
        "client.address": `10.0.${Math.floor(random() * 255)}.${Math.floor(random() * 255)}`,
        "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
        "otel.scope.name": "@opentelemetry/instrumentation-http",
      },
    };
    const queries = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at): Span => {
      const table = pick(["products", "carts", "users", "orders"]);
      const share = Math.floor(durationUs / 6);
      return {
        ...common,
        ...{ id: hex(16), parent: root.id, name: `SELECT ${table}`, kind: "client", error: false },
        ...{ atUs: atUs + share * at, durationUs: Math.floor(share * random()) },
        attributes: {
          "db.system.name": "postgresql",
          "db.query.text": `select * from ${table} where id = $1 and tenant = $2 order by created_at desc limit 20`,
          "server.address": "db.shop",
          "db.response.returned_rows": Math.floor(random() * 20),
        },
      };
    });
    return [root, ...queries];
  }

  return {
    trace,
    batch(count: number): Span[] {
      const spans: Span[] = [];
      while (spans.length < count) spans.push(...trace());
      return spans;
    },
  };
}
