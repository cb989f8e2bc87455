import { addressText, ownName, parseSshAddress, type SshAddress } from "../remote/address.ts";
import { readRemotes } from "../remote/remotes.ts";
import { chooseTarget } from "../remote/target.ts";
import { appIdentity } from "../build/place.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";

export const gitRemoteCommand: CommandBody = {
  usage: ["git-remote SCOPE[/NAME] [REMOTE | USER@HOST[:PORT]] [--name NAME]"],
  examples: [
    "git-remote shop  the commands for the default remote",
    "git-remote shop deploy@shop.example.com  a server that is not stored",
    "git-remote shop | sh  run them, and then: git push berth main",
  ],
  detail: [
    "Prints the git commands that add a server as a remote of the repository in this folder. Then",
    "git push berth main builds and deploys the branch, and the push is refused when that fails. One",
    "repository deploys a scope; SCOPE/NAME is for a second one in the same scope. Nothing is changed.",
  ],
  flags: [{ name: "name", value: "NAME", summary: "what git calls the remote (default: berth)" }],
  allServers: true,
  async run(context, args) {
    const [repository, server, ...more] = args.words;
    if (repository === undefined || more.length > 0) throw usageFailure("say which scope: git-remote SCOPE [REMOTE]");
    appIdentity(repository.includes("/") ? repository : `${repository}/web`);
    const name = args.value("name") ?? "berth";
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(name))
      throw usageFailure(`"${name}" cannot be the name of a git remote`);
    const { address, identity, socket } = serverOf(context, server);
    const root = rootOf(socket);
    const onServer = (verb: string) => `"berth ${verb}${root === undefined ? "" : ` --root ${shellWord(root)}`}"`;
    const url = `ssh://${addressText(address)}/${repository}`;
    const commands = [
      `git remote add ${name} ${url}`,
      `git config remote.${name}.receivepack ${onServer("receive-pack")}`,
      `git config remote.${name}.uploadpack ${onServer("upload-pack")}`,
    ];
    answer(context, { name, url, commands }, () => commands.join("\n"));
    if (identity !== undefined && !context.json) {
      context.terminal.note(`note: git takes the key from your ssh configuration: IdentityFile ${identity}`);
    }
    if (socket !== undefined && root === undefined) {
      context.terminal.note(
        `note: ${socket} does not end in /run/berth.sock: write --root and the folder of all state behind receive-pack and upload-pack`,
      );
    }
    return exitCodes.done;
  },
};

/** The folder of all state of the server with this socket; undefined where the path does not say it. */
function rootOf(socket: string | undefined): string | undefined {
  return /^(\/.+)\/run\/berth\.sock$/.exec(socket ?? "")?.[1];
}

/** For the shell of the server, in double quotes here. A path of a stored socket has neither quotes, blanks nor "$". */
function shellWord(path: string): string {
  return /^[\w/.,+-]+$/.test(path) ? path : `'${path}'`;
}

interface Server {
  address: SshAddress;
  identity?: string;
  /** The socket of the remote, if it names one. */
  socket?: string;
}

function serverOf({ remotes, limits }: Context, text: string | undefined): Server {
  const stored = readRemotes(remotes.file, limits.tunnel);
  const known = stored.list.some(({ name }) => name === text);
  if (text !== undefined && !known && /[@.:]/.test(text)) return { address: parseSshAddress(text) };
  const target = chooseTarget({ remote: text ?? stored.default ?? ownName }, "", () => stored);
  if (target.type === "remote") {
    const { identity, socket } = target.remote;
    return {
      address: target.remote,
      identity,
      socket,
    };
  }
  if (target.type === "group") throw usageFailure(`"${target.name}" is a group of servers: name one of them`);
  throw usageFailure("say where the server is: git-remote SCOPE USER@HOST");
}
