import { addressText } from "./address.ts";
import type { Remote } from "./remotes.ts";
import { noSshCode, type SshResult } from "./ssh.ts";

/** What went wrong, and what to do about it. */
export interface SshFault {
  cause: string;
  advice: readonly string[];
}

interface Told {
  remote: Remote;
  result: SshResult;
}

/** The words of an ssh that did not come through, as words that say what to type next. */
export function sshFault(told: Told): SshFault {
  const { remote, result } = told;
  if (result.code === noSshCode) return noSsh;
  const fault = faults.find(({ when }) => when.test(result.stderr));
  if (fault !== undefined) return fault.say(told);
  const last = ownLines(result.stderr).at(-1) ?? `exit code ${result.code}`;
  return { cause: `ssh failed: ${last}`, advice: [`try it by hand:  ${byHand(remote)}`] };
}

const noSsh: SshFault = {
  cause: "ssh is not installed on this machine",
  advice: ["install the OpenSSH client, for example:  sudo apt-get install openssh-client"],
};

interface Pattern {
  when: RegExp;
  say(told: Told): SshFault;
}

/** The first that matches counts. */
const faults: readonly Pattern[] = [
  {
    when: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    say: ({ remote, result }) => ({
      cause: "its host key is not the one that this machine knows",
      advice: [
        `known key:              ${/Offending \S+ key in (\S+)/.exec(result.stderr)?.[1] ?? "in known_hosts"}`,
        "was it reinstalled?     compare the new fingerprint with the one on its console, then",
        `                        ssh-keygen -R ${knownName(remote)}`,
        `                        ${byHand(remote)}`,
        "was it not?             do not connect: another machine may be answering in its place",
      ],
    }),
  },
  {
    when: /Host key verification failed|host key is known for/,
    say: ({ remote }) => ({
      cause: "this machine does not know its host key",
      advice: [
        `connect once by hand, and compare the fingerprint:  ${byHand(remote)}`,
        `in a pipeline, write the line into known_hosts:     ssh-keyscan ${keyscanWords(remote)}`,
        "and check it against the server's /etc/ssh/ssh_host_*_key.pub",
      ],
    }),
  },
  {
    when: /UNPROTECTED PRIVATE KEY FILE|Bad owner or permissions on/,
    say: ({ result }) => {
      const file = /Permissions \d+ for '([^']+)'|Bad owner or permissions on (\S+)/.exec(result.stderr);
      const path = file?.[1] ?? file?.[2] ?? "the file";
      return { cause: `ssh does not use ${path}: other users may read or write it`, advice: [`chmod 600 ${path}`] };
    },
  },
  {
    when: /Too many authentication failures/,
    say: ({ remote }) => ({
      cause: "ssh offered too many keys before the right one",
      advice: [`name the right key:  berth remote add ${remote.name} ${addressText(remote)} --identity FILE --replace`],
    }),
  },
  { when: /Permission denied/, say: denied },
  {
    when: /Could not resolve hostname/,
    say: ({ remote }) => ({
      cause: `the name "${remote.host}" cannot be resolved`,
      advice: ["check the host:  berth remote list", "and the network of this machine"],
    }),
  },
  {
    when: /Connection refused/,
    say: ({ remote, result }) => ({
      cause: `port ${/ port (\d+): Connection refused/.exec(result.stderr)?.[1] ?? remote.port ?? 22} of ${remote.host} refuses connections`,
      advice: ["does sshd run there?  systemctl status ssh", "is the port right?    berth remote list"],
    }),
  },
  {
    when: /timed out|No route to host|Network is unreachable/,
    say: ({ remote }) => ({
      cause: `${remote.host} does not answer`,
      advice: [
        "is the machine up?                     ping it, or look at the console of its provider",
        "does a firewall close the ssh port?",
      ],
    }),
  },
  {
    when: /kex_exchange_identification|Connection closed by|Connection reset by|banner exchange/,
    say: ({ remote }) => ({
      cause: "its ssh server ended the connection before the sign-in",
      advice: [
        "too many tries from here?  wait some minutes (fail2ban, MaxStartups)",
        `is it an ssh server?       ${byHand(remote, "-v")}`,
      ],
    }),
  },
];

function denied({ remote, result }: Told): SshFault {
  const { stderr } = result;
  const user = remote.user ?? /Authenticating to .* as '([^']+)'/.exec(stderr)?.[1] ?? "this user";
  const takes = /Permission denied \(([^)]*)\)/.exec(stderr)?.[1];
  const keys = [...stderr.matchAll(/^debug1: Offering public key: (\S+)/gm)].map(([, path = ""]) => path);
  const missing = [...stderr.matchAll(/Identity file (\S+) not accessible/g)].map(([, path = ""]) => path);
  return {
    cause: `its ssh server does not let "${user}" in`,
    advice: [
      `keys tried:         ${keys.length === 0 ? "none" : keys.join(", ")}`,
      ...missing.map((path) => `not readable:       ${path}`),
      ...(takes === undefined ? [] : [`the server takes:   ${takes.replaceAll(",", ", ")}`]),
      `give it your key:   ssh-copy-id ${sshWords(remote)}`,
      "or use another one: --identity FILE of berth remote add, or BERTH_SSH_IDENTITY",
    ],
  };
}

function ownLines(stderr: string): string[] {
  const lines = stderr.split("\n").map((line) => line.replaceAll("\r", "").trim());
  return lines.filter((line) => line !== "" && !/^(?:debug\d:|OpenSSH_)/.test(line));
}

/** `-p 2222 deploy@shop.example` */
function sshWords({ host, user, port }: Remote): string {
  return `${port === undefined ? "" : `-p ${port} `}${user === undefined ? "" : `${user}@`}${host}`;
}

function byHand(remote: Remote, flag?: string): string {
  return `ssh ${flag === undefined ? "" : `${flag} `}${sshWords(remote)}`;
}

/** As known_hosts names it. */
function knownName({ host, port }: Remote): string {
  return port === undefined || port === 22 ? host : `'[${host}]:${port}'`;
}

function keyscanWords({ host, port }: Remote): string {
  return `${port === undefined ? "" : `-p ${port} `}${host}`;
}
