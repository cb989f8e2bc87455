import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "./wait.ts";

/** A tab of a real browser. Waits for what it is asked about; see `patienceMs`. */
export interface Tab {
  open(url: string): Promise<void>;
  /** The address once it matches. */
  at(pattern: RegExp): Promise<string>;
  /** Text of the page once it holds `text`. */
  shows(text: string): Promise<string>;
  fill(selector: string, value: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** The first link or button with this text. */
  press(text: string): Promise<void>;
  /** The browser's back button. */
  back(): Promise<void>;
  /** Value of an expression in the page. */
  read<T>(expression: string): Promise<T>;
  /** Another tab with the same cookies, in front of this one: a page behind another one is hidden. */
  another(): Promise<Tab>;
  /** Brings the tab to the front again. */
  front(): Promise<void>;
  /** The browser keeps no cookie from now on: it has none when it sends a request, redirects included. */
  withoutCookies(): Promise<void>;
  /** The page's own scripts do not run from now on. */
  withoutScripts(): Promise<void>;
  /** Keys as a person types them: `Tab`, `Shift+Tab`, `Enter`, a letter. */
  key(name: string): Promise<void>;
  /** Text as a person types it, into what has the focus. */
  type(text: string): Promise<void>;
  /** Bytes that the page's scripts hold once what is not needed was collected. */
  heapBytes(): Promise<number>;
  /** Seconds that the main thread of the page was busy so far, by what it did: `TaskDuration` is all of it. */
  busySeconds(): Promise<Record<string, number>>;
  /** The page as PNG, as large as its window. */
  picture(): Promise<Uint8Array>;
  /** How the page is looked at: width and height in CSS pixels, and the colours that the system asks for. */
  look(size: { width: number; height: number; scheme: "light" | "dark" }): Promise<void>;
}

export interface Chromium {
  /** A tab with cookies of its own. */
  tab(): Promise<Tab>;
  /** Messages of pages about their policy or scripts: empty when all is well. */
  readonly complaints: string[];
  close(): Promise<void>;
}

interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** Chromium without windows takes half of the CPU of the whole one; `test/lib/needs.sh` gets it where Debian has it. */
const program = () => Bun.which("chromium-headless-shell") ?? "chromium";

/** Processes that the whole Chromium has for its windows: suggestions under the address bar, and one in reserve. */
const unused = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"];

/** On a busy machine its first start takes long: it reads 300 MB from the disk. */
const startMs = 60_000;

/** Headless Chromium over its remote-debugging protocol. */
export async function startChromium(): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const run = Bun.spawn(
    [
      program(),
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-extensions",
      "--disable-breakpad",
      `--disable-features=${unused.join(",")}`,
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      // The tabs of the test are the only ones.
      "--no-startup-window",
    ],
    // A group of its own: what Debian installs is a script, and the browser its child.
    { stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true },
  );
  const stop = async () => {
    process.kill(-run.pid, "SIGKILL");
    await run.exited;
    rmSync(profile, { recursive: true, force: true });
  };
  try {
    const [port, path] = await waitFor(
      "chromium's address",
      () => {
        const lines = readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n");
        return lines.length > 1 && lines;
      },
      startMs,
    );
    const wire = await connect(`ws://127.0.0.1:${port}${path}`);
    return {
      complaints: wire.complaints,
      async tab() {
        const { browserContextId } = await wire.call("Target.createBrowserContext");
        return createTab(wire, String(browserContextId));
      },
      async close() {
        wire.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Wire {
  call(method: string, params?: Record<string, unknown>, sessionId?: string): Promise<Record<string, unknown>>;
  /** Calls `react` for each such message of that session. */
  on(method: string, sessionId: string, react: (params: Record<string, unknown>) => void): void;
  readonly complaints: string[];
  close(): void;
}

async function connect(url: string): Promise<Wire> {
  const socket = new WebSocket(url);
  const waiting = new Map<
    number,
    { resolve: (value: Record<string, unknown>) => void; reject: (error: Error) => void }
  >();
  const complaints: string[] = [];
  const reactions = new Map<string, (params: Record<string, unknown>) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.method === "Log.entryAdded" || message.method === "Runtime.exceptionThrown") {
      const text = JSON.stringify(message.params);
      if (/Content Security Policy|exceptionDetails/.test(text)) complaints.push(text);
    }
    reactions.get(`${message.method} ${message.sessionId}`)?.(message.params ?? {});
    const caller = message.id === undefined ? undefined : waiting.get(message.id);
    if (message.id === undefined || caller === undefined) return;
    waiting.delete(message.id);
    if (message.error === undefined) caller.resolve(message.result ?? {});
    else caller.reject(new Error(message.error.message));
  };
  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject(new Error("chromium has gone"));
    waiting.clear();
  };
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no connection to ${url}`));
  });
  return {
    complaints,
    on: (method, sessionId, react) => void reactions.set(`${method} ${sessionId}`, react),
    close: () => socket.close(),
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      }),
  };
}

/** In `modifiers` of the protocol. */
const shiftBit = 8;
const keyCodes: Record<string, number> = { Tab: 9, Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40 };

const networkChanged = "net::ERR_NETWORK_CHANGED";
/** Types of resources in the protocol; what a page fetches while it lives, it asks for again by itself. */
const pageParts = ["Document", "Script", "Stylesheet"];

async function createTab(wire: Wire, browserContextId: string): Promise<Tab> {
  const { targetId } = await wire.call("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await wire.call("Target.attachToTarget", { targetId, flatten: true });
  const session = String(sessionId);
  const call = (method: string, params?: Record<string, unknown>) => wire.call(method, params, session);
  await call("Page.enable");
  await call("Runtime.enable");
  await call("Log.enable");
  await call("Network.enable");

  async function read<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value: T }).value;
  }
  /** In an arrow function of the page, which must return true once it is done. */
  const act = (what: string, body: string) => waitFor(what, () => read<boolean>(`(() => { ${body} })()`));
  const quoted = (text: string) => JSON.stringify(text);
  const ready = `if (document.readyState === "loading") return false;`;

  // What loads while Docker makes a network or a container is cut off by Chromium, as the addresses of the machine change.
  // Without one of its scripts or styles a page stays empty, or bare, for good.
  let wasCut = false;
  const notLoaded: string[] = [];
  wire.on("Network.loadingFailed", session, ({ errorText, type }) => {
    notLoaded.push(`${type} ${errorText}`);
    if (errorText === networkChanged && pageParts.includes(String(type))) wasCut = true;
  });

  const tab: Tab = {
    read,
    async open(url) {
      for (let tries = 1; tries <= 5; tries++) {
        // To the address that it is at already, such as a link with a fragment, a tab only moves within its page.
        if (tries > 1) {
          await call("Page.navigate", { url: "about:blank" });
          await act("an empty page", `return location.href === "about:blank";`);
        }
        wasCut = false;
        const { errorText } = await call("Page.navigate", { url });
        if (errorText === undefined || errorText === "net::ERR_ABORTED")
          await act(
            `a page at ${url}`,
            `return document.readyState === "complete" && location.href !== "about:blank";`,
          );
        else if (errorText === networkChanged) wasCut = true;
        else throw new Error(`${String(errorText)} for ${url}`);
        if (!wasCut) return;
      }
      throw new Error(`the network changed in each of 5 tries to open ${url}`);
    },
    at: (pattern) =>
      waitFor(`an address like ${pattern}`, async () => {
        const href = await read<string>("location.href");
        return pattern.test(href) && href;
      }),
    async shows(text) {
      let shown = "";
      const isShown = async () => {
        if (wasCut) {
          wasCut = false;
          await call("Page.reload");
        }
        shown = await read<string>("document.body?.innerText ?? ''");
        return shown.includes(text) && shown;
      };
      return waitFor(`"${text}" on the page`, isShown).catch((cause: unknown) => {
        throw new Error(
          `the page does not show "${text}", but "${shown.slice(0, 1_000)}"; not loaded: ${notLoaded.join(", ")}`,
          { cause },
        );
      });
    },
    async fill(selector, value) {
      await act(
        `a field ${selector}`,
        `${ready} const field = document.querySelector(${quoted(selector)}); if (!field) return false; field.focus(); field.value = ${quoted(value)}; return true;`,
      );
    },
    async click(selector) {
      const find = `document.querySelector(${quoted(selector)})`;
      await act(selector, `${ready} const one = ${find}; if (!one) return false; one.click(); return true;`);
    },
    async press(text) {
      const find = `[...document.querySelectorAll("a, button")].find((one) => one.innerText.trim() === ${quoted(text)})`;
      await act(
        `"${text}" to press`,
        `${ready} const one = ${find}; if (!one) return false; one.click(); return true;`,
      );
    },
    async back() {
      // Later: a page that has gone does not answer.
      await read("void setTimeout(() => history.back())");
    },
    another: () => createTab(wire, browserContextId),
    async front() {
      await call("Page.bringToFront");
    },
    async withoutCookies() {
      wire.on("Fetch.requestPaused", session, async ({ requestId }) => {
        await wire.call("Storage.clearCookies", { browserContextId });
        await call("Fetch.continueRequest", { requestId });
      });
      await call("Fetch.enable");
    },
    async withoutScripts() {
      await call("Emulation.setScriptExecutionDisabled", { value: true });
    },
    async key(name) {
      const shift = name.startsWith("Shift+");
      const key = shift ? name.slice("Shift+".length) : name;
      const code = keyCodes[key] ?? key.toUpperCase().charCodeAt(0);
      const text = key === "Enter" ? { text: "\r" } : key.length === 1 ? { text: key } : {};
      const common = { key, code: key, windowsVirtualKeyCode: code, modifiers: shift ? shiftBit : 0, ...text };
      await call("Input.dispatchKeyEvent", { type: "keyDown", ...common });
      await call("Input.dispatchKeyEvent", { type: "keyUp", ...common });
    },
    async type(text) {
      await call("Input.insertText", { text });
    },
    async heapBytes() {
      await call("HeapProfiler.collectGarbage");
      const { usedSize } = await call("Runtime.getHeapUsage");
      return Number(usedSize);
    },
    async busySeconds() {
      await call("Performance.enable");
      const { metrics } = await call("Performance.getMetrics");
      const all = metrics as { name: string; value: number }[];
      return Object.fromEntries(
        all.filter(({ name }) => name.endsWith("Duration")).map(({ name, value }) => [name, value]),
      );
    },
    async picture() {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      return Uint8Array.fromBase64(String(data));
    },
    async look({ width, height, scheme }) {
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    },
  };
  return tab;
}
