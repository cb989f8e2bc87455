import { listManifests } from "../../orchestration/api/apply.ts";
import { openBrowser } from "../shell/browser.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { requireNamed } from "../shell/named.ts";
import { resourceReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { visitorAddresses } from "./visitor-addresses.ts";
import { oneWord } from "../shell/words.ts";

export const openCommand: CommandBody = {
  usage: ["open SCOPE/NAME [--print]"],
  examples: ["open shop/web  open the app in a browser, and print its address"],
  detail: [
    "Prints the addresses of the ingress, and opens the first in a browser, where this is a terminal on a",
    "desktop. An app without a domain has none: see berth domains and port-forward.",
  ],
  flags: [{ name: "print", summary: "only print the addresses" }],
  async run(context, args) {
    const reference = oneWord(args, "which app: open SCOPE/NAME");
    const { scope, name } = resourceReference(reference);
    const found = await context.api.call(listManifests, { query: { kind: "ingress", scope, name } });
    if (found.length === 0) await requireNamed(reference, context);
    const addresses = await visitorAddresses(context, found);
    const [first] = addresses;
    if (first === undefined) {
      throw new CommandFailure(`${reference} has no address; give it a domain: berth domains add ${reference} HOST`);
    }
    answer(context, { addresses }, () => addresses.map(printable).join("\n"));
    if (!args.on("print")) await openBrowser(context, first);
    return exitCodes.done;
  },
};
