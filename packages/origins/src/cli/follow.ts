import { type Command, printable, toUrl, withWallet } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { MINIMUM_CROWD } from "../wallet.ts";
import { SET_OPTIONS, setOf, withOrigins } from "./open.ts";
import { statusFields, statusText } from "./status.ts";

export const originFollow: Command = {
  name: "origin follow",
  summary: "Follows a curator's set, or changes how it is followed.",
  positionals: ["URL"],
  options: {
    ...SET_OPTIONS,
    mirror: { value: "URL", multiple: true, help: "a copy of the set's heads; may be given more than once" },
    "minimum-crowd": { value: "NOTES", help: `least crowd without which nothing is shown; default: ${MINIMUM_CROWD}` },
    "accept-removal": { help: "accept that the curator removed many notes from the set" },
    "claim-earlier": {
      help: "claim payments from before the wallet followed the set; not after `sotto init --restore`",
    },
  },
  details: [
    "URL is that of the curator's files. Follow only sets that you chose yourself, never one that a server names. A mirror at",
    "another operator shows a curator that signs different heads for different payers.",
  ],
  async run(context) {
    const { args, output, signal } = context;
    const url = toUrl(args.positional(0, "URL"), "URL");
    const set = setOf(context);
    const mirrors = args.texts("mirror");
    const minimumCrowd = args.integer("minimum-crowd", 0, Number.MAX_SAFE_INTEGER);
    const consents = { acceptRemoval: args.flag("accept-removal"), claimEarlier: args.flag("claim-earlier") };
    return withWallet(context, false, ({ wallet, config }) =>
      withOrigins(wallet, async (origins) => {
        await wallet.scan({ signal });
        await origins.follow({ ...set, url, mirrors, minimumCrowd }, consents);
        const { problems } = await origins.sync({ claims: false, signal });
        for (const { error } of problems) if (error instanceof SottoError) output.note(error.message);
        const followed = origins.status().find(({ curator, name }) => curator === set.curator && name === set.name)!;
        return { json: statusFields(followed, config), text: statusText(followed) };
      }),
    );
  },
};

export const originUnfollow: Command = {
  name: "origin unfollow",
  summary: "Follows a curator's set no longer.",
  positionals: [],
  options: SET_OPTIONS,
  details: [
    "Notes are no longer kept apart because of it. What the wallet has shown still counts for the crowd of other sets.",
  ],
  async run(context) {
    const set = setOf(context);
    return withWallet(context, false, ({ wallet }) =>
      withOrigins(wallet, async (origins) => {
        await origins.unfollow(set);
        return { json: { ...set, followed: false }, text: [`follows ${printable(set.name)} no longer`] };
      }),
    );
  },
};
