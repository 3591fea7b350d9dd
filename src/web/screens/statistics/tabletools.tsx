import { t } from '../../core/texts.ts'

interface TableToolsProps {
  readonly asTable: boolean
  readonly onToggle: () => void
  readonly onSave: () => void
}

/** Shows a chart as a table and back, and saves its figures. */
export const TableTools = ({ asTable, onToggle, onSave }: TableToolsProps) => (
  <>
    <button class="text-button small" type="button" aria-pressed={asTable} onClick={onToggle}>
      {asTable ? t().chart.chart : t().chart.table}
    </button>
    <button class="text-button small" type="button" onClick={onSave}>
      CSV
    </button>
  </>
)
