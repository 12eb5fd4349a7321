// A way to pay that sotto does not know: with a password. This is all that a server needs for it.
import { randomUUID } from "node:crypto";
import { answered, CheckFailed, type PaymentMethod } from "@sotto/resource-server";

interface PaidPassword {
  readonly kind: "password";
  readonly id: string;
  readonly amount: bigint;
  readonly resource: string;
}

declare module "@sotto/resource-server" {
  interface PaymentKinds {
    /** A password that pays for one request. */
    readonly password: PaidPassword;
  }
}

export const HINT = "/.well-known/sotto/password";

/** @param unused passwords, each of which pays for one request */
export const password = (unused: Set<string>): PaymentMethod => ({
  name: "password",
  headers: [{ name: "X-Password" }],
  paths: [{ method: "GET", path: HINT }],
  open: ({ paid }) => ({
    answer: async () => answered(new TextEncoder().encode("ask the merchant"), "text/plain"),
    offer: ({ price }) => ({ payment: { hint: HINT, value: String(price) } }),
    decide: async (request, { price: amount, resource }) => {
      const [shown] = request.header("x-password");
      if (shown === undefined) return undefined;
      if (!unused.delete(shown)) throw new CheckFailed("PASSWORD");
      return paid({ kind: "password", id: randomUUID(), amount, resource }, async (outcome) => {
        if (outcome === "unstarted" || (outcome !== "aborted" && outcome >= 500)) unused.add(shown);
      });
    },
  }),
});
