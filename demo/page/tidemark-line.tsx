/** Everything above this line is settled and known to be complete: the idea that gave the product its name. */
export function TidemarkLine({ last }: { last: boolean }) {
  return (
    <div
      className="tidemark"
      data-last={last}
      title="The tidemark: everything above it is settled, complete and stored."
    >
      <span className="wave" aria-hidden="true" />
      <span className="tidemark-label">settled up to here</span>
    </div>
  )
}
