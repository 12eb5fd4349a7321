import { z } from "zod";

/** Who learned what. */
export const REVEALED = z.object({
  to: z.enum(["merchant", "service", "chain", "registry"]),
  who: z.string().describe("host or address"),
  what: z.array(z.string()),
});
export type Revealed = z.infer<typeof REVEALED>;

const NETWORK = "this machine's network address";

const PREPAID = "the price, and a prepaid token, which cannot be linked to its purchase or to other tokens";

/** A curator's set of which a payment showed that its money comes from it. */
interface ShownSet {
  readonly curator: string;
  readonly name: string;
}

const originOf = (shown: readonly ShownSet[]): string[] =>
  shown.map(({ curator, name }) => `that the money comes from the set ${name} of the curator ${curator}`);

export const toMerchant = (who: string, paid: boolean, token = false, shown: readonly ShownSet[] = []): Revealed => {
  const price = token ? PREPAID : "the price, and that it was paid";
  const request = ["the request (URL, method, headers, body)", NETWORK];
  return { to: "merchant", who, what: [...request, ...(paid ? [price] : []), ...originOf(shown)] };
};

export const toService = (who: string, shown: readonly ShownSet[] = []): Revealed => ({
  to: "service",
  who,
  what: [
    "the recipient's wallet and shielded address",
    "the resource",
    "the amount, within 10 percent",
    NETWORK,
    ...originOf(shown),
  ],
});

export const toChain = (who: string): Revealed => ({
  to: "chain",
  who,
  what: ["that some note of the pool was spent, but not the amount, the payer, the recipient or the resource"],
});

export const toRegistry = (who: string): Revealed => ({
  to: "registry",
  who,
  what: ["the phone number that was looked up", NETWORK],
});

/** One line for each party. */
export const revealedInWords = (revealed: readonly Revealed[]): string[] =>
  revealed.length === 0
    ? ["Nothing was revealed to anyone."]
    : revealed.map(({ to, who, what }) => `Revealed to the ${to} (${who}): ${what.join("; ")}.`);
