export const importPercent = (file: string): string => `coalesce(
  CASE
    WHEN ${file}.status = 'succeeded' THEN 100
    ELSE round(
      100.0 * (${file}.import_count + ${file}.rejected_count) / nullif(${file}.total_count, 0), 1
    )
  END,
  0
)`;
