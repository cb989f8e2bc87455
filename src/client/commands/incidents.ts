import { getIncident, listIncidents } from "../../observability/api/incidents.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { rowsOf } from "../shell/listing.ts";
import { resourceReference } from "../basics/reference.ts";
import { incidentsText, incidentText } from "../text/incident-text.ts";
import { oneWord, optionalWord, present } from "../shell/words.ts";

const list: Command = {
  name: "list",
  summary: "list the incidents, newest first",
  usage: ["incidents list [SCOPE/NAME] [--since TIME] [--limit N]"],
  flags: [
    { name: "since", value: "TIME", summary: "how far back: 24h, 7d (30d)" },
    { name: "limit", short: "n", value: "N", summary: "at most this many (50)" },
  ],
  groups: true,
  lists: rowsOf("incidents", "id"),
  async run(context, args) {
    const text = optionalWord(args);
    const { scope, name } = text === undefined ? { scope: undefined, name: undefined } : resourceReference(text);
    const query = present({ scope, name, since: args.value("since"), limit: args.value("limit") });
    const data = await context.api.call(listIncidents, { query });
    return answer(context, data, () => incidentsText(data.incidents, context));
  },
};

const commands: readonly Command[] = [
  list,
  {
    name: "show",
    summary: "show one incident: how long, what it cost, what was changed before, and its timeline",
    usage: ["incidents show ID"],
    flags: [],
    async run(context, args) {
      const id = oneWord(args, "which incident: its id, as berth incidents shows it");
      const data = await context.api.call(getIncident, { params: { id } });
      return answer(context, data, () => incidentText(data.incident, data.timeline, context));
    },
  },
];

export const incidentsCommand: CommandBody = {
  usage: ["incidents [SCOPE/NAME]"],
  examples: ["incidents  what went wrong in the last 30 days", "incidents shop/web --since 7d  of one app"],
  detail: ["An incident is all alerts and down times of one app that are close in time."],
  flags: list.flags,
  groups: true,
  lists: rowsOf("incidents", "id"),
  commands,
  run: list.run,
};
