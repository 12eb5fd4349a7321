import { type Command, counted, withWallet } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { withOrigins } from "./open.ts";

export const originSync: Command = {
  name: "origin sync",
  summary: "Takes the newest heads, and claims payments so that their notes inherit the origin.",
  positionals: [],
  options: {},
  details: [
    "A claim says in public that a payment's money was in the set. Each payment's claim is sent on a connection of its own. Run",
    "the command at times that do not depend on your payments, such as every hour: `pay` and the other commands send no claims.",
  ],
  async run(context) {
    const { output, signal } = context;
    return withWallet(context, false, ({ wallet }) =>
      withOrigins(wallet, async (origins) => {
        const { heads, claims, problems } = await origins.sync({ retry: true, signal });
        const errors = problems.map(({ error }) => error).filter((error) => error instanceof SottoError);
        if (errors.length > 0 && heads + claims === 0) throw errors[0]!;
        for (const { message } of errors) output.note(message);
        return {
          json: { heads, claims, problems: errors.map(({ code, message }) => ({ code, message })) },
          text: [`took ${counted(heads, "head")}; claimed ${counted(claims, "note")}`],
        };
      }),
    );
  },
};
