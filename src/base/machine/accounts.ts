import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type OperatorGroup, readAccounts, readOperatorGroup } from "../pure/admission.ts";

/** Users and the operators' group of this machine, from its own files; those of directories (LDAP) are not known. */
export async function readOperators(
  etc: string,
  group: string,
): Promise<{ accounts: Account[]; group: OperatorGroup }> {
  const [passwd, groups] = await Promise.all([textOf(join(etc, "passwd")), textOf(join(etc, "group"))]);
  const accounts = readAccounts(passwd);
  return { accounts, group: readOperatorGroup(group, groups, accounts) };
}

/** A machine without the file has no such users. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
