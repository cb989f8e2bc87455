import {
  getIngress,
  type IngressSite,
  type IngressStatus,
  reloadIngress,
  stopIngress,
} from "../../ingress/api/ingress.ts";
import { getIngressTraffic } from "../../ingress/api/traffic.ts";
import { noWords } from "../shell/words.ts";
import { moveCommand } from "./ingress-move.ts";
import { accessCommand } from "./ingress-logs.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { rowsOf } from "../shell/listing.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { proxyText, sitesText } from "../text/ingress-text.ts";
import { trafficText } from "../text/traffic-text.ts";
import { watch } from "../shell/watch.ts";
import { tableSetup } from "./get.ts";

const statusCommand: Command = {
  name: "status",
  summary: "show whether the proxy serves, where it listens, and what is wrong",
  usage: ["ingress status"],
  examples: ["ingress status  exits with 0 while the proxy, or a plugin alone, serves; else with 1"],
  flags: [],
  async run(context, args) {
    noWords(args);
    const data = await context.api.call(getIngress);
    answer(context, data, () => proxyText(data, tableSetup(context)));
    return isServing(data) ? exitCodes.done : exitCodes.failed;
  },
};

const listCommand: Command = {
  name: "ls",
  summary: "list ingresses with their routes, replicas, totals and problems",
  usage: ["ingress ls [SCOPE|SCOPE/NAME]"],
  examples: ["ingress ls  all ingresses", "ingress ls shop/web  one of them"],
  detail: ["REQUESTS and 5XX count since HAProxy last loaded its files; berth ingress status says when that was."],
  flags: [],
  lists: rowsOf("sites", "ingress"),
  async run(context, { words }) {
    const [reference, ...more] = words;
    if (more.length > 0) throw usageFailure("ingress ls takes one SCOPE or SCOPE/NAME");
    const { sites, proxy } = await context.api.call(getIngress);
    const chosen = sites.filter((site) => isMeant(site, reference));
    if (reference !== undefined && chosen.length === 0) throw notFound(reference);
    return answer(
      context,
      { sites: chosen },
      () => sitesText({ sites: chosen, proxy }, tableSetup(context)) || "no ingresses",
    );
  },
};

const topCommand: Command = {
  name: "top",
  summary: "watch the requests of the last minute, the busiest ingress first",
  usage: ["ingress top [SCOPE|SCOPE/NAME]"],
  examples: ["ingress top  rate, statuses, failures, p50 and p99 of each ingress"],
  detail: [
    "On a terminal top goes on until Ctrl-C; through a pipe it prints once. FAILED are answers of 500",
    "and above, and answers that broke off. HELD requests waited for a replica to become ready.",
  ],
  flags: [],
  async run(context, { words }) {
    const [reference, ...more] = words;
    if (more.length > 0) throw usageFailure("ingress top takes one SCOPE or SCOPE/NAME");
    const read = async () => {
      const traffic = await context.api.call(getIngressTraffic);
      return { ...traffic, sites: traffic.sites.filter((site) => isMeant(site, reference)) };
    };
    if (context.rawTerminal.size() === undefined || context.json) {
      const traffic = await read();
      return answer(context, traffic, () => trafficText(traffic, tableSetup(context)));
    }
    const look = async () => {
      const text = trafficText(await read(), tableSetup(context));
      return { text, key: text };
    };
    return watch(context, { look, everyMs: context.limits.topMs });
  },
};

const reloadCommand: Command = {
  name: "reload",
  summary: "let the proxy load its files again, or start it after a stop; call plugins again",
  usage: ["ingress reload"],
  examples: ["ingress reload  no request is lost"],
  detail: [
    "The server loads and starts the proxy by itself; this is for a proxy that was stopped. A plugin that",
    "routes ingresses is called for each of them again, for example after its proxy lost its state.",
  ],
  flags: [],
  async run(context, args) {
    noWords(args);
    const data = await context.api.call(reloadIngress);
    return answer(context, data, () => proxyText(data, tableSetup(context)));
  },
};

const stopCommand: Command = {
  name: "stop",
  summary: "stop the proxy: no site is served until a reload",
  usage: ["ingress stop [-y]"],
  examples: ["ingress stop -y  frees the ports; berth ingress reload starts it again"],
  detail: ["Requests under way get 10 seconds. A new start of the server starts the proxy too."],
  flags: [yesFlag],
  async run(context, args) {
    noWords(args);
    await assent("Stop the proxy? No site is served until: berth ingress reload", args, context);
    const data = await context.api.call(stopIngress);
    return answer(context, data, () => "stopped; start it again with: berth ingress reload");
  },
};

export const ingressCommand: CommandBody = {
  usage: [],
  examples: [
    "ingress status  whether the proxy serves, and where",
    "ingress ls  each ingress with its replicas, totals and problems",
    "ingress top  the requests of the last minute",
    "ingress logs --status 5xx  the failed requests of ingresses with an access log",
  ],
  detail: ["berth ingress COMMAND --help says more."],
  flags: [],
  commands: [statusCommand, listCommand, topCommand, accessCommand, moveCommand, reloadCommand, stopCommand],
  run: () => Promise.reject(usageFailure("say what to do: ingress status, ls, top, logs, move, reload, stop")),
};

/** By HAProxy; or, where the server has no address for visitors, by plugins, all without a problem. */
function isServing({ proxy, sites }: IngressStatus): boolean {
  if (proxy.state === "running") return true;
  const isByPlugins =
    sites.length > 0 && sites.every((site) => site.plugin !== undefined && site.problems.length === 0);
  return proxy.state === "off" && isByPlugins;
}

/** `shop` is a scope, `shop/web` one ingress. */
function isMeant({ ingress }: Pick<IngressSite, "ingress">, reference: string | undefined): boolean {
  return reference === undefined || ingress === reference || ingress.startsWith(`${reference}/`);
}

function notFound(reference: string): CommandFailure {
  return new CommandFailure(`no ingress is called "${reference}"; see: berth ingress ls`);
}
