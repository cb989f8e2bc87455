/** What the process that reads source gets on stdin. */
export type SourceJob = {
  scope: string;
  name: string;
  host: string | undefined;
  /** In which it works; its packed folders stay there. */
  work: string;
} & (
  | {
      type: "git";
      url: string;
      ref: string | undefined;
      folder: string | undefined;
      /** The one address that git may connect to, checked before. */
      address: string;
      token: string | undefined;
      allowHttp: boolean;
    }
  | { type: "archive"; file: string; isFolder: boolean }
);
