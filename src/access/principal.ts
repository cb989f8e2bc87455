/**
 * Who asks for a change, as far as it decides what may change. A principal is a value of this process: the listener, the
 * token check or the run of a plugin makes it, and no header, query or body can name one.
 */
export type Principal =
  /** The user of the machine that the kernel vouched for: root, the server's user, the group. */
  | { type: "operator" }
  /** The server itself: the reconciler and the clocks. It carries out what someone with the right to it has stored. */
  | { type: "server" }
  /** A token, or a person whose session stands for one. */
  | { type: "token" | "person"; scopes: readonly string[]; apps: readonly string[] }
  /** A run of a plugin. It may not do more than the one who started it; what it was granted is checked beside this. */
  | { type: "plugin"; askedBy: Principal }
  /** A pod of a plugin's block; or a container that a run started, which may do no more than the one who started that run. */
  | { type: "pod"; askedBy?: Principal | undefined }
  /** A caller that no door has named. */
  | { type: "unnamed" };

export const operator: Principal = { type: "operator" };
export const theServer: Principal = { type: "server" };
/** It may change only what reaches nothing outside of containers. */
export const unnamed: Principal = { type: "unnamed" };

/** The principal of a token or of a session. */
export function tokenPrincipal({ scopes, apps, person }: TokenGrant): Principal {
  return { type: person === undefined ? "token" : "person", scopes, apps };
}

interface TokenGrant {
  scopes: readonly string[];
  apps: readonly string[];
  person?: string;
}

/** Whether a principal may change what reaches the machine: `admin` of the whole server, or the machine's own user. */
export function ownsMachine(principal: Principal): boolean {
  switch (principal.type) {
    case "operator":
    case "server":
      return true;
    case "token":
    case "person":
      return holdsAdmin(principal);
    case "plugin":
      return ownsMachine(principal.askedBy);
    case "pod":
    case "unnamed":
      return false;
  }
}

/** A token that is limited to apps has no `admin`: that scope is about the whole server. */
export function holdsAdmin({ scopes, apps }: Pick<TokenGrant, "scopes" | "apps">): boolean {
  return apps.length === 0 && scopes.includes("admin");
}

/** Whether a principal may change anything at all: a token takes the scope `actions` for that. */
export function mayChange(principal: Principal): boolean {
  switch (principal.type) {
    case "token":
    case "person":
      return principal.scopes.includes("actions");
    case "plugin":
      return mayChange(principal.askedBy);
    case "pod":
      return principal.askedBy === undefined || mayChange(principal.askedBy);
    case "operator":
    case "server":
    case "unnamed":
      return true;
  }
}
