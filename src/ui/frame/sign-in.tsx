import { useEffect, useState } from "preact/hooks";
import { startPath } from "../../observability/api/people.ts";
import { signIn, signInPath, signInWays } from "../../observability/api/sessions.ts";
import { api, faultText } from "../data/api.ts";
import { Button } from "../parts/button.tsx";
import { Note } from "../parts/notes.tsx";
import { Mark } from "./mark.tsx";

/** The code of a one-time link, which stands behind the `#`; it goes out of the address, and so out of the history. */
function takeLink(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("link") ?? undefined;
  if (code !== undefined) history.replaceState(null, "", location.pathname);
  return code;
}

/** The name of the sign-in service, where people can sign in through one. */
function useService(): string | undefined {
  const [name, setName] = useState<string>();
  useEffect(() => {
    // Without an answer a token still works.
    void api.call(signInWays).then(
      ({ people }) => setName(people?.title),
      () => undefined,
    );
  }, []);
  return name;
}

/** The browser leaves for the sign-in service, and comes back to this page. */
function startHref(): string {
  const to = location.pathname === signInPath ? "/" : `${location.pathname}${location.search}`;
  return `${startPath}?${new URLSearchParams({ to })}`;
}

const shape = /^pat_[A-Za-z0-9_-]{28}$/;

/** A token goes in once; what the browser keeps is a cookie that no script can read. */
export function SignIn({ ended, onEntered }: { ended: boolean; onEntered: () => void }) {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const service = useService();
  const enter = async (body: { token: string } | { link: string }) => {
    setBusy(true);
    try {
      await api.call(signIn, { body });
      onEntered();
    } catch (error) {
      setFault(faultText(error));
      setBusy(false);
    }
  };
  const send = () => {
    if (shape.test(token.trim())) void enter({ token: token.trim() });
    else setFault("This is not a token. A token begins with pat_ and has 32 characters.");
  };
  useEffect(() => {
    const link = takeLink();
    if (link !== undefined) void enter({ link });
  }, []);
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <h1 class="row">
          <Mark />
          Sign in to berth
        </h1>
        {ended ? (
          <Note tone="warn">Your session has ended: it or the token behind it was revoked or has expired.</Note>
        ) : null}
        {service === undefined ? null : (
          <>
            <a class="button main" href={startHref()} target="_self">{`Sign in with your ${service} account`}</a>
            <p class="or small soft">or with a token</p>
          </>
        )}
        <div class="field">
          <label for="token">Token</label>
          <input
            id="token"
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="pat_…"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </div>
        {fault === "" ? null : <Note tone="bad">{fault}</Note>}
        <Button submits look={service === undefined ? "main" : undefined} disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </Button>
        <p class="small soft">
          {"On the server, or with a remote set up on your laptop, "}
          <code>berth ui</code>
          {" prints a link that signs you in. A token for this field: "}
          <code>berth pat create --scope=read,actions</code>
        </p>
      </form>
    </main>
  );
}
