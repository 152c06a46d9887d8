import { useEffect, useRef, useState } from 'preact/hooks';
import { Table, type Column } from './basics';
import { arrangeLabels, findTicks } from './scale';

export interface Series {
  name: string;
  values: readonly (number | null)[];
  format: (value: number | null) => string;
  /** The short format, for the axis. */
  tick: (value: number) => string;
}

interface ChartProps {
  title: string;
  /** Times of the points in milliseconds since 1970, or their names. */
  x: readonly (number | string)[];
  x_name: string;
  formatLabel: (x: number | string) => string;
  /** Bars of one series, or of two that are compared. */
  series: readonly Series[];
  /** The numbers are in a table next to the chart already. */
  hasTable?: boolean;
}

const HEIGHT = 190;
const TOP = 10;
const BOTTOM = HEIGHT - 24;
const TICKS = 4;
const MAX_BAR = 60;
/** Above and below a text, and between a number and the bars. */
const PADDING = 8;

/** Bars over time or names. A table has the numbers too, for readers who cannot see the chart. */
export function Chart({ title, x, x_name, formatLabel, series, hasTable = false }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const columns: Column<number>[] = [
    { name: x_name, of: (n) => formatLabel(x[n]!) },
    ...series.map(({ name, values, format }): Column<number> => ({
      name,
      of: (n) => format(values[n] ?? null),
      number: true,
    })),
  ];
  return (
    <figure>
      {series.length > 1 && (
        <ul class="legend">
          {series.map(({ name }, index) => (
            <li key={name}>
              <span class={`bar-${index}`} aria-hidden="true" /> {name}
            </li>
          ))}
        </ul>
      )}
      <div
        class="chart"
        ref={box}
        role="img"
        aria-label={`${title}. The numbers are in the table below.`}
      >
        {width > 0 && <Plot x={x} formatLabel={formatLabel} series={series} width={width} />}
      </div>
      {!hasTable && (
        <details>
          <summary>As a table</summary>
          <Table
            caption={title}
            columns={columns}
            rows={x.map((_, n) => n)}
            getKey={(n) => n}
            empty="No numbers."
          />
        </details>
      )}
    </figure>
  );
}

/** The width that the page has for the chart; 0 until it is measured. */
function useWidth(box: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const resized = new ResizeObserver(() => setWidth(current.clientWidth));
    resized.observe(current);
    return () => resized.disconnect();
  }, []);
  return width;
}

let ruler: CanvasRenderingContext2D | null | undefined;

/** The width of a text in the font of charts, which the style sheet makes that of the page. */
function measure(text: string): number {
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return text.length * 8;
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(ruler.measureText(text).width);
}

type PlotProps = Pick<ChartProps, 'x' | 'formatLabel' | 'series'> & { width: number };

function Plot({ x, formatLabel, series, width }: PlotProps) {
  const { tick } = series[0]!;
  const ticks = findTicks(
    series.flatMap(({ values }) => values.map((value) => value ?? 0)),
    TICKS,
  );
  const [low, high] = [ticks[0]!, ticks.at(-1)!];
  const toY = (value: number) => BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP);
  const left = Math.max(...ticks.map((value) => measure(tick(value)))) + PADDING;
  const right = width;
  const names = x.map(formatLabel);
  const nameBar = (at: number | string) => (typeof at === 'string' ? at : formatLabel(at));
  const labels = arrangeLabels(names.map(measure), { left, right });
  const slot = (right - left) / Math.max(x.length, 1);
  const bar = Math.min(slot * 0.7, MAX_BAR * series.length) / series.length;
  return (
    <svg width={width} height={HEIGHT}>
      {ticks.map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={toY(value)} y2={toY(value)} />
          <text x={left - PADDING} y={toY(value) + 4} text-anchor="end">
            {tick(value)}
          </text>
        </g>
      ))}
      {series.map(({ name, values, format }, index) =>
        values.map((value, n) => {
          const amount = value ?? 0;
          const start = left + (n + 0.5) * slot - (bar * series.length) / 2 + index * bar;
          return (
            <rect
              key={`${name} ${n}`}
              class={`bar-${index}`}
              x={start}
              width={bar}
              y={toY(Math.max(amount, 0))}
              height={toY(Math.min(amount, 0)) - toY(Math.max(amount, 0))}
            >
              <title>{`${nameBar(x[n]!)}: ${format(value)} ${series.length > 1 ? name : ''}`}</title>
            </rect>
          );
        }),
      )}
      {labels.map(({ index, x: middle }) => (
        <text key={index} class="label" x={middle} y={HEIGHT - PADDING} text-anchor="middle">
          {names[index]}
        </text>
      ))}
    </svg>
  );
}
