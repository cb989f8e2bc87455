/** The envelope of every JSON answer (orchestration API, section 1). */
interface OkEnvelope<Data> {
  status: "ok";
  data?: Data;
}

export interface ErrorEnvelope {
  status: "error";
  error: string;
}

export type Envelope<Data> = OkEnvelope<Data> | ErrorEnvelope;
