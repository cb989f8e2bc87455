import type { Sources } from "./sources.ts";

/** Where a program listens, as its sources say. */
export type Listening =
  /** Where variables say: `PORT`, or others that the image has to set. */
  | { type: "asked"; variables: string[] }
  | { type: "fixed"; port: number; file: string; others: number[] }
  /** Nothing says it. */
  | { type: "unseen" }
  /** Nothing listens. */
  | { type: "nowhere" };

interface Rules {
  /** What listens. */
  calls: RegExp;
  /** A port in such a call. */
  ports: RegExp[];
  /** A port that is named in a file with such a call. */
  named: RegExp[];
  /** A call that only this machine reaches. */
  loopback: RegExp[];
}

const local = String.raw`(?:localhost|127\.0\.0\.1|\[?::1\]?)`;
const js: Rules = {
  calls:
    /\.listen\(|\bcreateServer\(|\bserve\(|\bServer\(|\bexport default \{[^}]{0,400}\bfetch\b|\bstartServer\(|\brunServer\(/,
  ports: [
    /\.listen\(\s*["']?(\d{2,5})\b/g,
    /(?:\.listen|\bserve|\bServer|\.start|startServer)\(\s*\{[^}]{0,300}?\bport\s*:\s*["']?(\d{2,5})\b/g,
    /\bserve\([^{}]{0,100},\s*\{[^}]{0,300}?\bport\s*:\s*(\d{2,5})\b/g,
    /\bexport default \{[^}]{0,300}?\bport\s*:\s*(\d{2,5})\b/g,
    /process\.env\.port\s*(?:\|\||\?\?)\s*["']?(\d{2,5})\b/g,
  ],
  named: [
    /\b\w{0,20}port\w{0,10}[ \t]*(?::[ \t]*\w{1,30}[ \t]*)?=[ \t]*["']?(\d{2,5})\b/gi,
    /\bport["']?[ \t]*:[ \t]*["']?(\d{2,5})\b/gi,
  ],
  loopback: [
    new RegExp(String.raw`\.listen\([^)\n]{0,120}["'\x60]${local}["'\x60]`),
    new RegExp(String.raw`(?:\.listen|\bserve|\bServer)\(\s*\{[^}]{0,300}\bhost(?:name)?\s*:\s*["']${local}["']`),
  ],
};

const rules: Readonly<Record<string, Rules>> = {
  ...{ node: js, bun: js, deno: js },
  python: {
    calls: /\bserve_forever\(|\brun_app\(|\.run\(|\bHTTPServer\(|\.listen\(|\bserve\(|\bmake_server\(|\bstart_server\(/,
    ports: [
      /(?:\.run|run_app|serve|make_server|start_server|launch)\([^()]{0,300}(?:\([^()]{0,80}\)[^()]{0,200})?\bport\s*=\s*["']?(\d{2,5})\b/g,
      /\bHTTPServer\(\s*\(\s*["'][\w.]{0,60}["']\s*,\s*(\d{2,5})\b/g,
      /\.(?:listen|bind)\(\s*(?:\(\s*)?(?:["'][\w.]{0,60}["']\s*,\s*)?(\d{2,5})\b/g,
      /\bmake_server\(\s*["'][\w.]{0,60}["']\s*,\s*(\d{2,5})\b/g,
    ],
    named: [/\b\w{0,20}port\w{0,10}[ \t]*(?::[ \t]*int[ \t]*)?=[ \t]*["']?(\d{2,5})\b/gi],
    loopback: [
      new RegExp(String.raw`(?:\.run|run_app|serve|make_server|start_server|HTTPServer)\([^)]{0,200}["']${local}["']`),
      /\buvicorn\.run\((?![^)]{0,300}\bhost\b)/,
    ],
  },
  go: {
    calls: /\bListenAndServe|\bnet\.Listen\(|\.(?:Listen|Run|Start|Serve|StartServer)\(/,
    ports: [
      /\b(?:Listen|ListenAndServe|ListenAndServeTLS|Run|Start)\(\s*"[\w.]{0,60}:(\d{2,5})"/g,
      /\bnet\.Listen\(\s*"tcp[46]?"\s*,\s*"[\w.]{0,60}:(\d{2,5})"/g,
      /\bAddr:\s*"[\w.]{0,60}:(\d{2,5})"/g,
      /(?:\b(?:flag|flags|pflag|fs)|Flags\(\))\.(?:String|Int|Uint)(?:Var)?P?\((?:&\w[\w.]{0,60},\s*)?"(?:addr|address|port|listen|http|http-addr|bind|p)"\s*,\s*(?:"[a-z]?"\s*,\s*)?"?(?:[\w.]{0,40}:)?(\d{2,5})\b/g,
    ],
    named: [
      /\b\w{0,20}(?:port|addr)\w{0,10}[ \t]{0,4}(?:string|int|uint16)?[ \t]{0,4}:?=[ \t]{0,4}"?(?:[\w.]{0,40}:)?(\d{2,5})\b/gi,
      /\bName:\s{0,9}"(?:addr|address|port|listen|http|http-addr|bind)",\s{1,60}(?:\w{1,20}:\s{0,9}[^\n]{0,100},\s{1,60}){0,3}Value:\s{0,9}"?(?:[\w.]{0,40}:)?(\d{2,5})\b/g,
      /\bSetDefault\(\s*"[\w.]{0,60}port"\s*,\s*"?:?(\d{2,5})\b/gi,
    ],
    loopback: [
      new RegExp(String.raw`(?:Listen|ListenAndServe|Run|Start)\([^)\n]{0,60}"${local}:\d`),
      new RegExp(String.raw`\bAddr:\s*"${local}:\d`),
    ],
  },
  rust: {
    calls: /\bbind\(|\bserve\(|\blaunch\(\)|#\[(?:rocket::)?launch\]|\blisten\(|\bSocketAddr\b|\brun\(/,
    ports: [
      /"(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::1?\]):(\d{2,5})"/g,
      /\(\s*"(?:0\.0\.0\.0|127\.0\.0\.1|localhost|::)"\s*,\s*(\d{2,5})\s*\)/g,
      /\(\s*\[\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\]\s*,\s*(\d{2,5})\s*\)/g,
      /\bIpv[46]Addr::\w{1,20}(?:\([\d, ]{0,30}\))?\s{0,3},\s{0,3}(\d{2,5})\b/g,
      /\bfrom_static\(\s*"[\d.]{7,15}:(\d{2,5})"/g,
    ],
    named: [
      /\b\w{0,20}port\w{0,10}\s*(?::\s*(?:[iu]\d{2}|usize)\s*)?=\s*(\d{2,5})\b/gi,
      /default_value(?:_t)?\s*=\s*"?(\d{4,5})"?/g,
    ],
    loopback: [
      new RegExp(String.raw`"${local}:(?:\d{2,5}"|\{)`),
      new RegExp(String.raw`\(\s*"${local}"\s*,\s*\d{2,5}\s*\)`),
      /\(\s*\[\s*127\s*,\s*0\s*,\s*0\s*,\s*1\s*\]\s*,\s*\w{2,40}\s*\)|\bIpv4Addr::(?:LOCALHOST\b|new\(\s*127\s*,)/,
    ],
  },
  java: {
    calls:
      /\bembeddedServer\(|\bcreateHttpServer\(|\bInetSocketAddress\(|\bServerSocket\(|\.listen\(|\bport\(|\.start\(|\bnew Server\(|\bEngineMain\b|^ktor\b|\bforPort\(/m,
    ports: [
      /\bInetSocketAddress\(\s*(?:"[\w.]{0,60}"\s*,\s*)?(\d{2,5})\b/g,
      /\b(?:port|forPort|listen|ServerSocket|setPort|withPort)\(\s*(\d{2,5})\b/g,
      /\.start\(\s*(\d{2,5})\s*\)/g,
      /\bnew Server\(\s*(\d{2,5})\s*\)/g,
      /\bembeddedServer\(\s*\w{1,40}\s*,\s*(\d{2,5})\b/g,
      /\bembeddedServer\([^)]{0,120}\bport\s*=\s*(\d{2,5})\b/g,
    ],
    named: [
      /\b\w{0,20}port\w{0,10}\s*(?::\s*Int\s*)?=\s*(\d{2,5})\b/gi,
      /^[ \t]*port[ \t]*[=:][ \t]*["']?(\d{2,5})\b/gm,
    ],
    loopback: [new RegExp(String.raw`(?:InetSocketAddress|embeddedServer|start)\([^)]{0,120}"${local}"`)],
  },
  dotnet: {
    calls: /\bUseUrls\(|\bListen(?:AnyIP|Localhost)?\(|\.Run\(\s*"|\bUrls\.Add\(|"Kestrel"/,
    ports: [
      /\b(?:UseUrls|Run|Add)\([^)]{0,40}"https?:\/\/[^":\s]{1,60}:(\d{2,5})/g,
      /\bListen(?:AnyIP|Localhost)\(\s*(\d{2,5})\b/g,
      /"Url"\s*:\s*"https?:\/\/[^":\s]{1,60}:(\d{2,5})/g,
    ],
    named: [],
    loopback: [
      /\b(?:UseUrls|Run|Add)\([^)]{0,40}"https?:\/\/(?:localhost|127\.0\.0\.1):\d/,
      /\bListenLocalhost\(/,
      /"Url"\s*:\s*"http:\/\/localhost:/,
    ],
  },
  ruby: {
    calls: /\bTCPServer\b|\bWEBrick\b|\bset[ (]{1,3}:port|\.run!|\bRackup?\b/,
    ports: [
      /\bset[ (]{1,3}:port,\s{0,3}(\d{2,5})\b/g,
      /\bTCPServer\.(?:new|open)\(?\s*(?:["'][\w.]{0,60}["']\s*,\s*)?(\d{2,5})\b/g,
      /:?Port\s*(?:=>|:)\s*(\d{2,5})\b/g,
    ],
    named: [],
    loopback: [
      new RegExp(String.raw`\bset[ (]{1,3}:bind,\s{0,3}["']${local}["']`),
      new RegExp(String.raw`\bTCPServer\.(?:new|open)\(?\s{0,9}["']${local}["']`),
    ],
  },
  elixir: {
    calls: /\bPlug\.Cowboy\b|\bBandit\b|\bEndpoint\b|\bcowboy\b|:gen_tcp\.listen/,
    ports: [/\b(?:Plug\.Cowboy|Bandit)\b[^\n]{0,200}\bport:\s*(\d{2,5})\b/g, /:gen_tcp\.listen\(\s*(\d{2,5})\b/g],
    named: [/\bport:\s*(\d{2,5})\b/g],
    loopback: [],
  },
};

/** Ports of what a program calls. */
const clientPorts = new Set([
  ...[
    21, 22, 25, 53, 110, 143, 389, 443, 465, 587, 993, 995, 1025, 1433, 1521, 1883, 2525, 3306, 5432, 5433, 5672, 6379,
  ],
  ...[6380, 6543, 7687, 9042, 9092, 9200, 11211, 15672, 26257, 27017, 9229, 5173],
]);
/** Variables with the port of what a program calls. */
const clientNames =
  /(?:DB|DATABASE|PG|POSTGRES|SQL|MONGO|REDIS|SMTP|MAIL|RABBIT|AMQP|MQTT|KAFKA|ELASTIC|CACHE|PROXY|FTP|IMAP|POP3|SSH|LDAP|CLIENT|FRONTEND|REACT|VITE|METRIC|PROM|DEBUG|INSPECT|SSL|TLS|HTTPS|MINIO|S3|STATSD|LOG|REMOTE|TARGET|TEST|RPC|CONSUL|ETCD|MEMCACHE|CLICKHOUSE|GRPC|EUREKA|CELERY|VITE|HMR|WEBPACK|EXPOSE|IM)/;

/** Words of a program that may listen by a call that is not known here. */
const network =
  /\b(?:[Ll]isten(?:er|ing)?|[Ss]erve(?:r|rs|d)?|SERVER|ports?|PORT|[Rr]outer?s?|[Ss]ockets?|[Ww]eb|[Ww]ebhooks?|[Ee]ndpoint|HTTP|http\.\w|grpc|rpc)\b/;

const reads =
  /["'`]PORT["'`]|\b[Ee]nv(?:ironment)?\.PORT\b|\benv\[:PORT\]|\$\{\??PORT\b|[{,]\s*PORT\b[^{}]{0,300}\}\s*=\s*(?:process\.)?env\b|\bPORT\s*:\s*(?:z|Joi|joi|num|port|str|t|v|yup|S|Type|envalid|env)\b[.(]|["'`][\w.=-]{0,60}\bPORT["'`]/;
/** A field of clap whose variable has the name of the field. */
const clapPort =
  /#\[(?:clap|arg|structopt)\([^\]]{0,200}\benv\b(?!\s*=)[^\]]{0,200}\]\s{0,80}(?:pub(?:\(crate\))? )?port\s*:/;
const settings = /^[ \t]+(?:PORT|port)[ \t]*:[ \t]*int\b/m;
const variable = /(?:["'`]|\benv\.|\$\{\??)([A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){0,4}_?PORT)\b/g;

/** Where a program listens. `first`: the file that starts it, which counts more than all others. */
export function listeningOf(sources: Sources, language: string): Listening {
  const own = rules[language];
  if (own === undefined) return { type: "unseen" };
  const { files } = sources;
  const calling = files.filter(({ text }) => own.calls.test(text));
  const speaks = calling.length > 0 || files.some(({ text }) => network.test(text));
  // Gin asks for it where its call names no address.
  const isGin =
    language === "go" && files.some(({ text }) => /gin-gonic\/gin|gin\.v1/.test(text) && /\.Run\(\s*\)/.test(text));
  const isClap = language === "rust" && files.some(({ text }) => clapPort.test(text));
  if (isGin || isClap) return { type: "asked", variables: ["PORT"] };
  const asksSettings =
    language === "python" && files.some(({ text }) => /\bBaseSettings\b/.test(text) && settings.test(text));
  if (asksSettings || files.some(({ text }) => reads.test(text))) return { type: "asked", variables: ["PORT"] };
  const names = [...new Set(files.flatMap(({ text }) => [...text.matchAll(variable)].map(([, name = ""]) => name)))];
  const variables = names.filter((name) => !clientNames.test(name));
  if (variables.length > 0 && variables.length < 4) return { type: "asked", variables };
  const inCalls = portsOf(files, own.ports);
  const byName = inCalls.length > 0 ? inCalls : portsOf(calling, own.named);
  const elsewhere = files.filter(({ path }) =>
    /(?:config|setting|constant|env|option|index|main)\w{0,15}(?:\/\w{1,40})?\.\w+$/i.test(path),
  );
  const all =
    byName.length > 0 || calling.length === 0
      ? byName
      : portsOf(elsewhere, [...own.named, /^[ \t]*"?(?:http_?)?port"?[ \t]*[:=][ \t]*"?(\d{2,5})\b/gim]);
  const [found] = all;
  if (found !== undefined)
    return {
      type: "fixed",
      ...found,
      others: [...new Set(all.map(({ port }) => port))].filter((port) => port !== found.port),
    };
  return !speaks && !sources.isCut && files.length > 0 ? { type: "nowhere" } : { type: "unseen" };
}

function portsOf(files: Sources["files"], patterns: readonly RegExp[]): { port: number; file: string }[] {
  return files
    .flatMap(({ path, text }) =>
      patterns.flatMap((pattern) =>
        [...text.matchAll(pattern)].map(([, port]) => ({ port: Number(port), file: path })),
      ),
    )
    .filter(({ port }) => port >= 80 && port < 65_536 && !clientPorts.has(port));
}

/** The file whose program only this machine reaches. */
export function loopbackIn({ files }: Sources, language: string): string | undefined {
  const own = rules[language]?.loopback ?? [];
  const isOnlyHere = (text: string) => own.some((pattern) => pattern.test(text)) || isFastifyDefault(text);
  return files.find(({ text }) => isOnlyHere(text))?.path;
}

/** Fastify listens on localhost unless the code names another address. */
function isFastifyDefault(text: string): boolean {
  const isFastify = /(?:from|require\()\s*["']fastify["']/.test(text);
  return isFastify && /\.listen\(\s*\{(?![^}]{0,300}\bhost\b)|\.listen\(\s*[\w.]{1,60}\s*[,)]/.test(text);
}

const hostVariable =
  /["'`.]((?:[A-Z]{2,12}_)?(?:HOST|HOSTNAME|BIND|ADDRESS|LISTEN_IP|LISTEN_ADDR|LISTEN_HOST|BIND_ADDRESS|BIND_IP))["'`]?\]?\)?[ \t]{0,3}(?:\|\||\?\?|,|\)\.unwrap_or\w{0,10}\()[ \t]{0,3}["'`](?:localhost|127\.0\.0\.1)["'`]/g;

/** Variables that say the address to listen at, and are this machine's own without a value. */
export function hostVariables({ files }: Sources): string[] {
  const names = files.flatMap(({ text }) => [...text.matchAll(hostVariable)].map(([, name = ""]) => name));
  return [...new Set(names)].filter((name) => !clientNames.test(name)).slice(0, 3);
}
