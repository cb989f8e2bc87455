import { Failure } from "../../../base/wire/failure.ts";
import { previewStates } from "../../api/manage/preview.ts";
import { changedSettings } from "../../core/setting-rules.ts";
import { chooseLanguage, type Language } from "../../core/languages.ts";
import type { ProviderButton } from "../code-exchange.ts";
import { effectiveSettings } from "../directory.ts";
import type { Offer } from "../sign-in.ts";
import { type ManageContext, refuse, requireInstance } from "./context.ts";

/** Branding to try; what is left out is as stored. */
interface Wish {
  state?: string | undefined;
  title?: string | undefined;
  accent?: string | undefined;
  logo_url?: string | undefined;
  language?: string | undefined;
}

interface Preview {
  state: (typeof previewStates)[number];
  face: { language: Language; title: string; logoUrl: string; accent: string };
  offer: Offer;
  lengthMin: number;
}

export interface Previews {
  /** What a hosted page would show. Fails `not_found`, and `invalid` as a change of the settings would. */
  of(instance: string, wish: Wish): Preview;
}

export function createPreviews(context: ManageContext, buttons: (instance: number) => ProviderButton[]): Previews {
  return {
    of(id, { state: wanted = "sign-in", ...branding }) {
      const instance = requireInstance(context, id);
      const state = previewStates.find((one) => one === wanted);
      if (state === undefined) {
        throw new Failure(
          "invalid",
          `state: ${JSON.stringify(wanted.slice(0, 40))} is not one of ${previewStates.join(", ")}`,
        );
      }
      const given = Object.fromEntries(Object.entries(branding).filter(([, value]) => value !== undefined));
      const { settings, problems } = changedSettings(instance.settings, given);
      refuse(problems);
      const effective = effectiveSettings({ settings });
      const { logo_url: logoUrl, accent, language } = effective;
      const title = effective.title || (context.store.apps.get(instance.appId)?.name ?? "");
      const email = effective.email_signin && effective.password_signin;
      const someone = { name: "Ana Silva", email: "ana@example.com" };
      return {
        state,
        face: { language: chooseLanguage(language, "en"), title, logoUrl, accent },
        offer: {
          ...{ title, email, providers: buttons(instance.seq), signUp: email && effective.email_signup },
          current: state === "signed-in" ? someone : undefined,
        },
        lengthMin: effective.min_password_length,
      };
    },
  };
}
