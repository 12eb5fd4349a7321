import type { Chain } from "@sotto/chain";
import type { Need } from "@sotto/server";
import { artifactsPresent, type Catalog } from "../artifacts/catalog.ts";
import type { Admission } from "../operations/admission.ts";
import type { Store } from "../store/index.ts";

export interface ServiceParts {
  readonly chain: Chain;
  readonly store: Pick<Store, "ping">;
  readonly catalog: Catalog;
  /** Checks whether a payment could be settled. */
  readonly admission: Pick<Admission, "needs">;
  /** The checks of extensions. */
  readonly extensions: Readonly<Record<string, Need>>;
}

/** The readiness checks: everything that a payment needs, and the extensions. */
export function serviceNeeds({ chain, store, catalog, admission, extensions }: ServiceParts): Record<string, Need> {
  return {
    chain: async () => void (await chain.head()),
    store: async () => void (await store.ping()),
    artifacts: async () => ((await artifactsPresent(catalog)) ? undefined : { ok: false, code: "ARTIFACT_DAMAGED" }),
    ...admission.needs(),
    ...extensions,
  };
}
