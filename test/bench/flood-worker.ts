import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Sends the bodies of a folder, named SIGNAL.ENCODING, over so many connections, again and again. */
const [url = "", folder = "", connections = "1"] = process.argv.slice(2);
const bodies = readdirSync(folder).map((name) => {
  const [signal, encoding] = name.split(".");
  const headers = { "Content-Type": encoding === "json" ? "application/json" : "application/x-protobuf" };
  return { path: `/v1/${signal}`, headers, body: readFileSync(join(folder, name)) };
});

async function again(first: number): Promise<never> {
  for (let at = first; ; at++) {
    const one = bodies[at % bodies.length];
    if (one === undefined) throw new Error(`${folder} is empty`);
    const { path, headers, body } = one;
    const sent = fetch(`${url}${path}`, { method: "POST", headers: { ...headers, "Content-Encoding": "gzip" }, body });
    await sent.then((response) => response.arrayBuffer()).catch(() => Bun.sleep(1));
  }
}

await Promise.all(Array.from({ length: Number(connections) }, (_, at) => again(at)));
