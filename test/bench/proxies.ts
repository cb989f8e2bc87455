import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../support/wait.ts";

/** A proxy on the core of proxies, with `hosts` hosts `h0.test` … that all lead to one port. */
export interface Measured {
  port: number;
  /** Milliseconds until it served its last host. */
  startMs: number;
  /** All of its processes. */
  pids(): number[];
  /** Lets a host lead to another port, and resolves when the proxy has been told. */
  route(host: number, upstreamPort: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ProxyOrder {
  /** A folder of its own. */
  folder: string;
  port: number;
  hosts: number;
  upstreamPort: number;
}

/** The core of the proxy that is measured, and the one of everything else. */
export const proxyCore = "0";
export const restCore = "1";

export const hostName = (host: number) => `h${host}.test`;

/** Moves processes with all of their threads to a core. */
export function pin(core: string, ...pids: number[]): void {
  for (const pid of pids) {
    const { success, stderr } = Bun.spawnSync(["taskset", "-acp", core, String(pid)], { stderr: "pipe" });
    if (!success) throw new Error(`taskset: ${stderr}`);
  }
}

/**
 * Lets the sessions of these processes come before those of others on a machine that is shared, or, with `isFirst` false,
 * no longer. Where that is not allowed, the others are heard in the figures.
 */
export function favour(isFirst: boolean, pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      writeFileSync(`/proc/${pid}/autogroup`, isFirst ? "-19" : "0");
    } catch {
      return;
    }
  }
}

/** Body of one answer. */
export async function page(port: number, host: number): Promise<string> {
  const headers = { host: hostName(host) };
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers, keepalive: false });
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return answer.text();
}

/** Proportional memory of all processes, in MB. */
export function memoryMb(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN);
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1_024;
}

/** Time on a core of all their threads, in microseconds. */
export function cpuUs(pids: readonly number[]): number {
  const nanoseconds = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((task) =>
      Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
    ),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000;
}

export async function isServing({ port, hosts }: ProxyOrder): Promise<void> {
  await waitFor("the proxy to serve", () => page(port, hosts - 1), 60_000);
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

export const withChildren = (pid: number) => [pid, ...childrenOf(pid)];

/** On the core of proxies. */
function spawn(command: string[], env: Record<string, string> = {}): Bun.Subprocess {
  return Bun.spawn(["taskset", "-c", proxyCore, ...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, ...env },
  });
}

/** The upstream of all: `/` says which port it is, `/big` is 10 MB. */
export async function startUpstream(folder: string, ports: readonly number[]): Promise<() => Promise<void>> {
  mkdirSync(join(folder, "www"), { recursive: true });
  writeFileSync(join(folder, "www/big"), Buffer.alloc(10 * 1_024 * 1_024, "x"));
  const servers = ports.map(
    (port) => `server { listen 127.0.0.1:${port} reuseport backlog=1024;
      location = / { default_type text/plain; return 200 "${port}\\n"; } location = /big { root ${folder}/www; } }`,
  );
  const child = Bun.spawn(["taskset", "-c", restCore, ...nginxCommand(folder, `sendfile on; ${servers.join("\n")}`)], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  for (const port of ports) await waitFor("the upstream", () => page(port, 0));
  return () => ended(child);
}

/** What nginx does with a request: pass it on, all that the ingress does with one, or that and a line for each over UDP. */
export type NginxDuties = "none" | "same" | { linesTo: number };

/** nginx as Debian runs it, with one worker and connections to the upstream that are kept. */
export async function startNginx(order: ProxyOrder, duties: NginxDuties = "none"): Promise<Measured> {
  const { folder, port, hosts, upstreamPort } = order;
  mkdirSync(join(folder, "hosts"), { recursive: true });
  const pass = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;';
  const write = (host: number, to: number) =>
    writeFileSync(
      join(folder, `hosts/${host}.conf`),
      `upstream u${host} { server 127.0.0.1:${to}; keepalive 64; }
      server { listen 127.0.0.1:${port}; server_name ${hostName(host)}; location / { proxy_pass http://u${host};
      ${duties === "none" ? pass : ""} } }`,
    );
  for (let host = 0; host < hosts; host += 1) write(host, upstreamPort);
  const sizes = "server_names_hash_max_size 65536; server_names_hash_bucket_size 128;";
  const shared = duties === "none" ? "" : sameDuties(port, duties);
  const begun = performance.now();
  const http = `${sizes} proxy_temp_path ${folder}; ${shared} include ${folder}/hosts/*.conf;`;
  const child = spawn(nginxCommand(folder, http));
  await isServing(order);
  return {
    port,
    startMs: performance.now() - begun,
    pids: () => withChildren(child.pid),
    async route(host, to) {
      write(host, to);
      child.kill("SIGHUP");
    },
    stop: () => ended(child),
  };
}

/**
 * What the ingress does, in nginx's words: unknown hosts get 404, the client's headers about itself are replaced, of the
 * upgrades only that to a WebSocket passes, each request has an id, and what failed at one replica goes to the next.
 * nginx drops names with underscores and refuses ambiguous framing by itself.
 */
function sameDuties(port: number, duties: Exclude<NginxDuties, "none">): string {
  const told = typeof duties === "object" ? linesOf(duties.linesTo) : "";
  return `map $http_upgrade $upgrade_out { default ""; ~*^websocket$ websocket; }
    map $http_upgrade $connection_out { default ""; ~*^websocket$ upgrade; }
    server { listen 127.0.0.1:${port} default_server; return 404; }
    client_header_timeout 10s; client_max_body_size 0; large_client_header_buffers 4 16k; keepalive_timeout 10s;
    proxy_http_version 1.1; proxy_connect_timeout 1s; proxy_read_timeout 300s; proxy_request_buffering off;
    proxy_next_upstream error timeout; proxy_next_upstream_tries 3;
    proxy_set_header Upgrade $upgrade_out; proxy_set_header Connection $connection_out; proxy_set_header HTTP2-Settings "";
    proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Host $http_host;
    proxy_set_header X-Forwarded-Port $server_port; proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-Prefix ""; proxy_set_header X-Forwarded-Ssl "";
    proxy_set_header Forwarded 'for="$remote_addr";host="$http_host";proto=$scheme';
    proxy_set_header X-Berth-Request-Id $request_id; proxy_hide_header X-Berth-Request-Id;
    add_header X-Berth-Request-Id $request_id always; ${told}`;
}

/** A line with the fields of the ingress's own. */
function linesOf(port: number): string {
  const times = "$upstream_connect_time $upstream_header_time $request_time $msec";
  const format = `$upstream_addr $status $bytes_sent $request_length ${times} $request_id $remote_addr $request_method $host $uri`;
  return `log_format ours '${format}'; access_log syslog:server=127.0.0.1:${port},nohostname ours;`;
}

/** HAProxy with one backend and no rules: what the proxy that the ingress is built on costs by itself. */
export async function startBareHaproxy(order: ProxyOrder): Promise<Measured> {
  const { folder, port, upstreamPort } = order;
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "haproxy.cfg");
  const times = "timeout connect 1s\n  timeout client 60s\n  timeout server 60s";
  writeFileSync(
    path,
    `global\n  nbthread 1\ndefaults\n  mode http\n  ${times}\n  http-reuse safe\nfrontend web\n  bind 127.0.0.1:${port}
  default_backend all\nbackend all\n  server one 127.0.0.1:${upstreamPort}\n`,
  );
  const begun = performance.now();
  const child = spawn(["haproxy", "-db", "-f", path]);
  await isServing(order);
  return {
    port,
    startMs: performance.now() - begun,
    pids: () => [child.pid],
    route: () => Promise.reject(new Error("it has no routes")),
    stop: () => ended(child),
  };
}

function nginxCommand(folder: string, http: string): string[] {
  mkdirSync(folder, { recursive: true });
  const paths = ["client_body", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`).join(" ");
  const events = "events { worker_connections 8192; }";
  const text = `daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/pid; error_log ${folder}/error;
    user root; ${events} http { ${http.includes("access_log") ? "" : "access_log off;"} keepalive_requests 1000000; tcp_nodelay on; ${paths} ${http} }`;
  writeFileSync(join(folder, "nginx.conf"), text);
  return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error")];
}

/** Debian's caddy, driven over its own API. */
export async function startCaddy(order: ProxyOrder & { adminPort: number }): Promise<Measured> {
  const { folder, port, hosts, upstreamPort, adminPort } = order;
  mkdirSync(folder, { recursive: true });
  const dial = (to: number) => [{ dial: `127.0.0.1:${to}` }];
  const routes = Array.from({ length: hosts }, (_, host) => ({
    match: [{ host: [hostName(host)] }],
    handle: [{ handler: "reverse_proxy", "@id": `u${host}`, upstreams: dial(upstreamPort) }],
    terminal: true,
  }));
  const server = { listen: [`127.0.0.1:${port}`], automatic_https: { disable: true }, routes };
  const config = { admin: { listen: `127.0.0.1:${adminPort}` }, apps: { http: { servers: { web: server } } } };
  writeFileSync(join(folder, "caddy.json"), JSON.stringify(config));
  const env = { GOMAXPROCS: "1", HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const begun = performance.now();
  const child = spawn(["caddy", "run", "--config", join(folder, "caddy.json")], env);
  await isServing(order);
  return {
    port,
    startMs: performance.now() - begun,
    pids: () => [child.pid],
    async route(host, to) {
      const answer = await fetch(`http://127.0.0.1:${adminPort}/id/u${host}/upstreams`, {
        method: "PATCH",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(dial(to)),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    stop: () => ended(child),
  };
}

async function ended(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  await child.exited;
}
