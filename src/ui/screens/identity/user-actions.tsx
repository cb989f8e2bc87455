import { readableEmail } from "../../../base/pure/domain-names.ts";
import { signal } from "@preact/signals";
import type { IdentityUser } from "../../../identity/api/manage/users.ts";
import {
  banPlaneUser,
  createPlaneUser,
  deletePlaneUser,
  setPlanePassword,
  unbanPlaneUser,
  verifyPlaneUser,
} from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { ask } from "../../parts/dialog.tsx";
import { say } from "../../data/notices.ts";
import { Field } from "./parts.tsx";

const paramsOf = ({ instance, id }: IdentityUser) => ({ instance, user: id });
const commandOf = (verb: string, { instance, email }: IdentityUser, more = "") =>
  `berth identity user ${verb} ${email} --instance ${instance}${more}`;

export function askBan(user: IdentityUser, again: () => void): void {
  ask({
    title: `Ban ${readableEmail(user.email)}`,
    verb: "Ban",
    danger: true,
    command: commandOf("ban", user),
    effects: [
      { text: "Every session ends at once, and signing in is refused", ends: true },
      { text: "Tokens that the app has verified without the service live on until they expire" },
      { text: "Nothing is deleted: Unban lets the user in again" },
    ],
    run: async () => {
      const { sessions_revoked: count } = await api.call(banPlaneUser, { params: paramsOf(user) });
      say(`${readableEmail(user.email)} is banned; ended ${count} ${count === 1 ? "session" : "sessions"}`);
      again();
    },
  });
}

export function askUnban(user: IdentityUser, again: () => void): void {
  ask({
    title: `Unban ${readableEmail(user.email)}`,
    verb: "Unban",
    command: commandOf("unban", user),
    effects: [{ text: "The user can sign in again; sessions that ended stay ended" }],
    run: async () => {
      await api.call(unbanPlaneUser, { params: paramsOf(user) });
      again();
    },
  });
}

export function askVerify(user: IdentityUser, again: () => void): void {
  ask({
    title: `Verify ${readableEmail(user.email)}`,
    verb: "Verify",
    command: commandOf("verify", user),
    effects: [
      { text: "The address counts as proven: you vouch that the user owns it" },
      { text: "The present password stays. If a stranger may have set it, set another one first" },
      { text: "Accounts at providers with this address join this user" },
    ],
    run: async () => {
      await api.call(verifyPlaneUser, { params: paramsOf(user) });
      again();
    },
  });
}

export function askDelete(user: IdentityUser, again: () => void): void {
  ask({
    title: `Delete ${readableEmail(user.email)}`,
    verb: "Delete",
    danger: true,
    type: user.email,
    command: commandOf("delete", user),
    effects: [
      { text: "The user goes with every session, password and account at a provider, for good", ends: true },
      { text: "A new account with this address is another user, with another id", ends: true },
      { text: "Your app gets the webhook user.deleted; what it stores itself stays" },
    ],
    run: async () => {
      await api.call(deletePlaneUser, { params: paramsOf(user) });
      again();
    },
  });
}

const password = signal("");

export function askPassword(user: IdentityUser, again: () => void): void {
  password.value = "";
  ask({
    title: `Set a password for ${readableEmail(user.email)}`,
    verb: "Set",
    command: commandOf("set-password", user, " --password -"),
    effects: [
      { text: "The old password, and links that were mailed to reset it, are worth nothing", ends: true },
      { text: "Every session ends at once", ends: true },
      { text: "No mail goes out: tell the user yourself" },
    ],
    body: () => (
      <Field
        id="new-password"
        label="New password"
        secret
        value={password.value}
        onInput={(value) => {
          password.value = value;
        }}
      />
    ),
    run: async () => {
      if (password.value === "") throw new Error("Write a password.");
      await api.call(setPlanePassword, { params: paramsOf(user), body: { password: password.value } });
      password.value = "";
      say(`${readableEmail(user.email)} has a new password`);
      again();
    },
  });
}

const fresh = signal({ email: "", name: "", password: "" });

export function askCreate(instance: string, again: () => void): void {
  fresh.value = { email: "", name: "", password: "" };
  const set = (name: keyof typeof fresh.value) => (value: string) => {
    fresh.value = { ...fresh.value, [name]: value };
  };
  ask({
    title: "New user",
    verb: "Create",
    command: `berth identity user create --instance ${instance} --email ana@example.com --password -`,
    effects: [
      { text: "The address counts as proven: you vouch for it" },
      { text: "No mail goes out; without a password the user signs in with a provider that has this address" },
    ],
    body: () => (
      <>
        <Field id="user-email" label="Address" value={fresh.value.email} onInput={set("email")} />
        <Field id="user-name" label="Name (optional)" value={fresh.value.name} onInput={set("name")} />
        <Field
          id="user-password"
          label="Password (optional)"
          secret
          value={fresh.value.password}
          onInput={set("password")}
        />
      </>
    ),
    run: async () => {
      const { email, name, password: secret } = fresh.value;
      const body = { email, ...(name === "" ? {} : { name }), ...(secret === "" ? {} : { password: secret }) };
      await api.call(createPlaneUser, { params: { instance }, body });
      say(`${email} is a user now`);
      again();
    },
  });
}
