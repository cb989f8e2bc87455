import { expect, test } from "bun:test";
import { serveOptions } from "../../../../src/config/config.ts";
import { shownSettings } from "../../../../src/config/shown-settings.ts";
import { changeText, findings } from "../../../../src/ui/text/settings.ts";
import { serverFixture } from "../../../support/ui/operator-fixtures.ts";

const setting = (flag: string, value: string) => ({ flag, variable: "BERTH_X", value });
const found = (changes: object) =>
  Object.fromEntries(
    findings({ ...serverFixture(), ...changes }).map(({ name, tone, text }) => [name, `${tone} ${text}`]),
  );

test("the plane without TLS is a warning only where other machines reach it", () => {
  const name = "TLS of this page";
  const of = (address: string, tls: string) =>
    found({ settings: [setting("--observability-addr", address), setting("--observability-tls", tls)] })[name];
  expect(of("0.0.0.0:8687", "off")).toStartWith("warn other machines reach");
  expect(of("0.0.0.0:8687", "self-signed")).toBe("good self-signed at 0.0.0.0:8687");
  expect(of("127.0.0.1:8687", "off")).toStartWith("good only this machine");
  expect(of("off", "off")).toStartWith("idle");
});

test("what does not work is never good", () => {
  const { engine } = serverFixture();
  const broken = found({
    engine: { ...engine, up: false, error: "refused", live_restore: false },
    proxy: { state: "failing", problem: "port 80 is taken", listen: [] },
    forwarding: { state: "blocked", detail: "a firewall rule" },
  });
  expect(broken.Docker).toBe("bad refused");
  expect(broken["Live restore"]).toStartWith("warn");
  expect(broken.HAProxy).toBe("warn port 80 is taken");
  expect(broken["Network between containers"]).toStartWith("bad");
});

/** As systemd reads a line of a unit. */
function assigned(line: string): Record<string, string> {
  const words = line.replace("Environment=", "").matchAll(/"([^"]*)"|(\S+)/g);
  return Object.fromEntries(
    [...words].map(([, quoted, bare]) => {
      const [name = "", ...value] = (quoted ?? bare ?? "").replaceAll("%%", "%").split("=");
      return [name, value.join("=")];
    }),
  );
}

test.each([
  {},
  { addr: "", observabilityAddr: "", identityAddr: "", ingressHttpAddr: "", ingressHttpsAddr: "", ingressImage: "" },
  { statsIntervalMs: "0", callbackPort: "off", telemetryPort: "off", identityTrustedProxies: "10.0.0.1, 10.0.0.2" },
  { root: "/srv/100% ours", addr: "0.0.0.0:1", addrInsecure: "yes", allowPrivateWebhooks: "on", ingressPlugin: "edge" },
])("a server with %p starts with each line that its settings print, and is the same", (flags) => {
  const shown = shownSettings(serveOptions(flags, {}));
  const lines = shown.filter(({ flag }) => flag !== "--smtp-url").map((setting) => assigned(changeText(setting)));
  for (const line of lines) expect(Object.keys(line)).toHaveLength(1);
  expect(shownSettings(serveOptions({}, Object.assign({}, ...lines)))).toEqual(shown);
});

test("a value with a password is an example, and one that systemd would read otherwise is left to the operator", () => {
  const example = changeText({ variable: "BERTH_SMTP_URL", value: "none: mails are kept" });
  expect(serveOptions({}, assigned(example)).mailFrom).toBe("Shop <no-reply@HOST>");
  expect(changeText(setting("--x", 'a "b"'))).toBe("Environment=BERTH_X=VALUE");
});
