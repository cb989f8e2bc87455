import { listCertificates } from "../../ingress/api/certificates.ts";
import { getIngress } from "../../ingress/api/ingress.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { listEvents } from "../../orchestration/api/events.ts";
import { system } from "../../orchestration/api/health.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { overviewOf, overviewText } from "../text/status-text.ts";
import { failingApps, firingAlerts, knownDrains, pluginFaults, knownBackups, knownTargets } from "../wait/troubles.ts";
import { tableSetup } from "./get.ts";

const eventsRead = "1000";

export const statusCommand: CommandBody = {
  usage: ["status"],
  examples: ["status  is everything well?"],
  detail: [
    "Shows the server, the container engine, apps that are not ready, ingresses whose visitors get",
    "errors, firing alerts, log drains that are behind, failures of the last day, and warnings. Exits",
    "with 0 when the engine answers, the disks have room, every app is ready or in a canary step and not",
    "failing its visitors, every ingress serves (a replica is ready, its port is open, requests succeed,",
    "no certificate is missing), and no alert of severity warning or critical fires that is not",
    "silenced; otherwise with 1. berth why explains one app, berth doctor checks the machine.",
  ],
  flags: [],
  groups: true,
  async run(context, args) {
    if (args.words.length > 0) throw usageFailure("status takes no words; for one app: berth describe SCOPE/NAME");
    const { api, clock, endpoint } = context;
    const report = await api.call(system);
    const manifests = await api.call(listManifests, { query: { status: "true" } });
    const { events } = await api.call(listEvents, { query: { limit: eventsRead } });
    const ingress = await api.call(getIngress);
    const { certificates } = await api.call(listCertificates);
    const alerts = await firingAlerts(context);
    const failing = await failingApps(context);
    const drains = await knownDrains(context);
    const faults = await pluginFaults(context);
    const targets = await knownTargets(context);
    const backups = await knownBackups(context);
    const parts = { report, manifests, events, ingress, certificates, alerts, drains, faults, targets, backups };
    const overview = overviewOf({ ...parts, failing, now: clock.now() });
    answer(context, overview, () => overviewText(overview, { ...tableSetup(context), endpoint }));
    return overview.well ? exitCodes.done : exitCodes.failed;
  },
};
