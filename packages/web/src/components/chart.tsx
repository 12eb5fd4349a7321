import { lazy, Suspense } from "react";
import type { ChartData } from "./chart-data.ts";
import { ErrorBoundary } from "./error-boundary.tsx";

interface Properties extends ChartData {
  /** What the chart shows, in a sentence with its main numbers: the alternative text. */
  readonly label: string;
}

const Canvas = lazy(() => import("./chart-canvas.tsx"));

/** A chart over time. Its code is loaded when the first chart is shown. */
export const Chart = ({ label, ...data }: Properties) => (
  <figure className="chart" role="img" aria-label={label}>
    <ErrorBoundary>
      <Suspense fallback={<div className="chart-canvas" />}>
        <Canvas {...data} />
      </Suspense>
    </ErrorBoundary>
  </figure>
);

/** Names of the series, each with its colour. */
export const Legend = ({ series }: Pick<ChartData, "series">) => (
  <ul className="legend">
    {series.map(({ name, colour }) => (
      <li key={name} data-colour={colour}>
        {name}
      </li>
    ))}
  </ul>
);
