import { useEffect, useState } from "react";
import { useEngine } from "../engine/page.ts";
import type { Stage } from "../hooks/use-operation.ts";
import { Icon } from "./icon.tsx";

interface Properties {
  readonly stages: readonly Stage[];
  /** Whether the last stage is in progress. */
  readonly running: boolean;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/**
 * The stages of a payment as they happen, with the time that each took, and the progress of a download that the proof
 * needs.
 */
export function Stages({ stages, running }: Properties) {
  const [now, setNow] = useState(Date.now);
  const engine = useEngine();
  const download = engine.phase === "open" && running ? engine.wallet.download : undefined;
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [running]);
  return (
    <ol className="stages" aria-live="polite">
      {stages.map(({ stage, at }, index) => {
        const last = index === stages.length - 1;
        const active = last && running;
        const end = stages[index + 1]?.at ?? now;
        return (
          <li key={`${at} ${stage}`} data-state={active ? "now" : "done"}>
            {active ? <span className="spinner" /> : <Icon name="check" />}
            <span>{stage}</span>
            {(!last || active) && (
              <span className="time number" aria-hidden="true">
                {seconds(Math.max(0, end - at))}
              </span>
            )}
          </li>
        );
      })}
      {download !== undefined && (
        <li>
          <progress value={download.percent} max={100} aria-label="Download" />
          <span className="number">{`${download.circuit} keys, ${download.megabytes} MB`}</span>
        </li>
      )}
    </ol>
  );
}
