import type { PlaneLimits } from "../../src/observability/service/context.ts";
import { type PlaneAnswer, type PlaneWorld, planeWorld } from "./observability.ts";
import { baseUrl, type SignInWorld, signInWorld } from "./sign-in-world.ts";
import { webBrowser } from "./web-browser.ts";

export const planeHost = "127.0.0.1:8687";

/** The observability plane with the identity service behind it, and a browser that goes from one to the other. */
export interface PeopleWorld extends PlaneWorld {
  identity: SignInWorld;
  /** Turns the sign-in on; answers the id of the instance. */
  enable(body?: unknown): Promise<string>;
  /** A user of the instance whom an operator has made. */
  account(email: string): Promise<string>;
  browser(): PeopleBrowser;
  stop(): Promise<void>;
}

export interface PeopleBrowser {
  /** Cookies of the plane, by name. */
  cookies: Map<string, string>;
  /** One request to the plane. */
  get(path: string, headers?: Record<string, string>): Promise<PlaneAnswer>;
  /** The button of the sign-in page, up to the address of the hosted page. */
  start(to?: string): Promise<string>;
  /** Signs in at the hosted page with a password; the path that the browser is sent back to. */
  password(page: string, email: string): Promise<string>;
  /** All of it; the last answer is that of the way back. */
  signIn(email: string, to?: string): Promise<PlaneAnswer>;
  /** With the cookies of the plane, as the web UI asks. */
  ask(request: string): Promise<PlaneAnswer>;
}

const password = "correct horse battery";

export async function peopleWorld(limits: Partial<PlaneLimits> = {}): Promise<PeopleWorld> {
  const identity = await signInWorld();
  const world = planeWorld({ identity: identity.running.identity, clock: identity.clock, limits });
  world.peer.ip = "127.0.0.1";
  let instance = "";
  return {
    ...world,
    identity,
    async enable(body = {}) {
      const answer = await world.manage("PUT /people-sign-in", body);
      if (answer.status !== 200) throw new Error(answer.text);
      instance = String(answer.data.instance);
      return instance;
    },
    async account(email) {
      const answer = await world.manage(`POST /identity/users?instance=${instance}`, { email, password });
      if (answer.status !== 200) throw new Error(answer.text);
      return String(answer.data.id);
    },
    browser: () => browserOf(world, identity),
    async stop() {
      world.close();
      await identity.stop();
    },
  };
}

function browserOf(world: PlaneWorld, identity: SignInWorld): PeopleBrowser {
  const cookies = new Map<string, string>();
  const hosted = webBrowser({
    service: (request) => identity.fetch(request),
    isService: (host) => host === new URL(baseUrl).host,
    isApp: (host) => host === planeHost,
  });
  const own = () => ({ Host: planeHost, Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") });
  const keep = (answer: PlaneAnswer) => {
    for (const line of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const get = async (path: string, headers: Record<string, string> = {}) =>
    keep(await world.ask(`GET ${path}`, { headers: { ...own(), ...headers } }));
  const start = async (to?: string) => {
    const answer = await get(`/ui/api/sign-in${to === undefined ? "" : `?${new URLSearchParams({ to })}`}`);
    if (answer.status !== 303) throw new Error(answer.text);
    return answer.headers.get("location") ?? "";
  };
  const signInAt = async (page: string, email: string) => {
    const { url } = await hosted.submit(await hosted.open(page), "/sign-in", { email, password });
    const { host, pathname, search } = new URL(url);
    if (host !== planeHost) throw new Error(`the sign-in ended at ${url}`);
    return `${pathname}${search}`;
  };
  return {
    cookies,
    get,
    start,
    password: signInAt,
    signIn: async (email, to) => get(await signInAt(await start(to), email)),
    ask: (request) => world.ask(request, { headers: { ...own(), "X-Berth-UI": "1" } }),
  };
}
