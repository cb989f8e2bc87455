import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment } from "../../support/manifests.ts";
import { freePort } from "../../support/ports.ts";
import { type Rig, rig } from "../../support/rig.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";

setDefaultTimeout(60_000);

/** The executable with a real container, and a browser that was signed in by `berth ui`. */
let berth: Rig;
let address: string;
let pod: string;

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  address = `127.0.0.1:${await freePort()}`;
  berth = await rig({ flags: ["--observability-addr", address] });
  await berth.apply(deployment("shop", "web", { command: ["sleep", "3600"] }));
  await berth.ready("deployment", "shop", "web");
  pod = (await berth.pods("shop", "web"))[0]?.name ?? "";
  await signIn();
});

afterAll(async () => {
  await berth?.close();
});

async function signIn(...flags: string[]): Promise<void> {
  const run = await berth.cli(["ui", "--print", ...flags]);
  await tab.open(/http:\/\/\S+/.exec(run.stdout)?.[0] ?? "");
  await tab.shows("shop/web");
}

const screen = () => tab.read<string>("document.querySelector('.xterm-rows')?.innerText ?? ''");
const prints = (text: string) => waitFor(`"${text}" in the terminal`, async () => (await screen()).includes(text));
async function keys(text: string): Promise<void> {
  for (const letter of text) await (letter === "\n" ? tab.key("Enter") : tab.type(letter));
}

describe("a terminal in the browser", () => {
  test("says what it does, opens a shell, and shows what a command prints in its colours", async () => {
    await tab.open(`http://${address}/apps/shop/web/terminal`);
    await tab.shows("What it changes on disk is gone with the replica");
    await takePictures(tab, "terminal-before");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("Open");
    await tab.shows("Open in ");
    await keys("echo $((6*7))-sum\n");
    await prints("42-sum");
    await keys("printf '\\033[31mred \\033[38;2;10;200;30mtrue\\033[0m\\n'\n");
    await prints("red true");
    await keys("stty size\n");
    await waitFor("a size that fits the page", async () => /\b[23]\d 1[0-9]{2}\b/.test(await screen()));
    await takePictures(tab, "terminal");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("lines that are pasted are asked for first", async () => {
    const paste = (text: string) =>
      tab.read(
        `(() => { const data = new DataTransfer(); data.setData("text/plain", ${JSON.stringify(text)}); document.querySelector(".xterm-helper-textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })); })()`,
      );
    await paste("echo one-$((1+1))\necho three-$((2+2))\n");
    await tab.shows("runs each of them at once");
    await takePictures(tab, "terminal-paste");
    expect(await axeFaults(tab)).toEqual([]);
    expect(await screen()).not.toContain("one-2");
    await tab.press("Paste");
    await prints("three-4");
  });

  test("a flood is shown as far as a page can, and Ctrl-C still ends it", async () => {
    await keys("yes flood-of-lines\n");
    await prints("flood-of-lines\nflood-of-lines");
    await tab.press("Ctrl-C");
    await keys("\n");
    await keys("echo after-$((1+1))\n");
    await prints("after-2");
  });

  test("the keyboard leads out of it", async () => {
    await tab.read("document.querySelector('.xterm-helper-textarea').focus()");
    await tab.key("Tab");
    expect(await tab.read<string>("document.activeElement.className")).toContain("xterm-helper-textarea");
    await tab.key("Shift+Tab");
    expect(await tab.read<string>("document.activeElement.innerText")).toBe("End");
    await tab.press("Skip the terminal");
    expect(await tab.read<string>("document.activeElement.innerText")).toContain("leads out of the terminal");
  });

  test("the end is shown with its exit code, and another session can be opened", async () => {
    await tab.read("document.querySelector('.xterm-helper-textarea').focus()");
    // What Tab has completed goes first.
    await keys("\n");
    await keys("exit 3\n");
    await tab.shows("Ended with exit code 3");
    await tab.press("Open again");
    await tab.shows("Open in ");
    await keys("echo again-$((1+1))\n");
    await prints("again-2");
    const shells = () => berth.docker(["exec", pod, "ps"]).match(/\{sh\}|\bsh\b/g)?.length ?? 0;
    expect(shells()).toBeGreaterThan(0);
    await tab.press("Files");
    await waitFor("the end of the shell with its page", () => shells() === 0);
  });

  test("one command runs in a container of its own", async () => {
    await tab.open(`http://${address}/apps/shop/web/terminal?replica=new`);
    await tab.shows("The container is removed after the command");
    await tab.read("document.querySelector('input[placeholder=\"a shell\"]').focus()");
    await tab.type("echo own-$((40+2))");
    await tab.press("Open");
    await tab.shows("Ended with exit code 0");
    await prints("own-42");
  });
});

describe("files in the browser", () => {
  test("a folder, its steps, a text, a download", async () => {
    await tab.open(`http://${address}/apps/shop/web/files?path=%2Fetc`);
    await tab.shows("passwd");
    await tab.shows("gone with the replica");
    await takePictures(tab, "files");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.press("passwd");
    await tab.shows("root:x:0:0");
    expect(await tab.read<string>("location.search")).toContain("view=passwd");
    await takePictures(tab, "files-view");
    expect(await axeFaults(tab)).toEqual([]);
    const got = await tab.read<string>("document.querySelector('a[download=passwd]').href");
    await tab.read(
      `fetch(${JSON.stringify(got)}).then(async (answer) => { document.body.dataset.got = answer.headers.get("content-disposition") + (await answer.text()).length; })`,
    );
    await waitFor("the download", () =>
      tab.read<boolean>('/^attachment; filename="passwd".*\\d\\d+$/.test(document.body.dataset.got ?? "")'),
    );
    await tab.press("/");
    await tab.shows("etc/");
  });

  test("an upload says what becomes of the file, and then it is there", async () => {
    await tab.open(`http://${address}/apps/shop/web/files?path=%2Ftmp`);
    await tab.shows("This folder is empty");
    await tab.read(
      `(() => { const data = new DataTransfer(); data.items.add(new File(["hello from here"], "note.txt")); const input = document.querySelector("input[type=file]"); input.files = data.files; input.dispatchEvent(new Event("change", { bubbles: true })); })()`,
    );
    await tab.shows("/tmp lies on no volume");
    await takePictures(tab, "files-upload");
    expect(await axeFaults(tab)).toEqual([]);
    await tab.read("document.querySelector('dialog button[type=submit]').click()");
    await tab.shows("/tmp/note.txt is there");
    await tab.press("note.txt");
    await tab.shows("hello from here");
  });

  test("without the scopes, both say which one is missing", async () => {
    await signIn("--scope", "read");
    await tab.open(`http://${address}/apps/shop/web/terminal`);
    await tab.shows("This needs the scope exec");
    await tab.open(`http://${address}/apps/shop/web/files`);
    await tab.shows("This needs the scope config:reveal");
  });

  test("no page complained of its policy", () => expect(chromium.complaints).toEqual([]));
});
