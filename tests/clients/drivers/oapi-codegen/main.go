// A program of a user of the client by oapi-codegen; docs/sdk.md shows the region.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"time"

	trunkline "example.com/trunkline"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ptr[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	// #region docs
	credentials := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Getenv("TRUNKLINE_KEY"), os.Getenv("TRUNKLINE_SECRET"))
		return nil
	}
	editor := trunkline.WithRequestEditorFn(credentials)
	api, err := trunkline.NewClientWithResponses(os.Getenv("TRUNKLINE_URL"), editor)
	coast := trunkline.BuyerCreate{Name: ptr("Coast"), Number: ptr("+13105550123")}
	once := trunkline.CreateBuyerParams{IdempotencyKey: ptr("coast-1")}
	made, err := api.CreateBuyerWithResponse(ctx, &once, coast)
	rename := trunkline.BuyerUpdate{Name: ptr("Coast Legal")}
	_, err = api.UpdateBuyerWithResponse(ctx, made.JSON201.Buyer.Uuid.String(), nil, rename)
	first := trunkline.ListBuyersParams{Cursor: ptr(int64(-1)), PerPage: ptr(2)}
	page, err := api.ListBuyersWithResponse(ctx, &first)
	wrong := trunkline.BuyerCreate{Name: ptr("Coast"), Number: ptr("555")}
	refused, err := api.CreateBuyerWithResponse(ctx, nil, wrong)
	// #endregion
	check(err)
	id := made.JSON201.Buyer.Uuid.String()
	problem := refused.ApplicationproblemJSON422

	again, err := api.CreateBuyerWithResponse(ctx, &once, coast)
	check(err)
	shown, err := api.ShowBuyerWithResponse(ctx, id, nil)
	check(err)

	pages := [][]string{}
	for next := page; ; {
		names := []string{}
		for _, buyer := range next.JSON200.Buyers {
			names = append(names, *buyer.Name)
		}
		pages = append(pages, names)
		cursor := next.JSON200.Metadata.NextCursor
		if cursor == 0 {
			break
		}
		following := trunkline.ListBuyersParams{Cursor: &cursor, PerPage: ptr(2)}
		next, err = api.ListBuyersWithResponse(ctx, &following)
		check(err)
	}

	schedule := trunkline.ScheduleUpdate{Name: ptr("New")}
	_, err = api.UpdateScheduleWithResponse(ctx, os.Getenv("SCHEDULE_ID"), nil, schedule)
	check(err)

	submitted, err := api.SubmitLeadWithResponse(ctx, nil, trunkline.LeadSubmission{
		LeadToken: ptr(os.Getenv("LEAD_TOKEN")),
		CallerId:  ptr("(310) 555-0177"),
		Data:      &trunkline.TokenValues{"first_name": "Ann"},
	})
	check(err)
	lead := submitted.JSON201.Lead

	// A form is written by the program: the client takes any body.
	var form bytes.Buffer
	fields := multipart.NewWriter(&form)
	check(fields.WriteField("buyer_suppression_id", os.Getenv("SUPPRESSION_ID")))
	csv, err := fields.CreateFormFile("import_file", "numbers.csv")
	check(err)
	_, err = csv.Write([]byte("6175550144\nnone\n"))
	check(err)
	check(fields.Close())
	sent, err := api.CreateBuyerSuppressionFileWithBodyWithResponse(
		ctx, nil, fields.FormDataContentType(), &form)
	check(err)
	file := sent.JSON201.BuyerSuppressionFile
	for *file.Status == trunkline.ImportStatusPending || *file.Status == trunkline.ImportStatusRunning {
		time.Sleep(100 * time.Millisecond)
		followed, err := api.ShowBuyerSuppressionFileWithResponse(ctx, fmt.Sprint(*file.Id), nil)
		check(err)
		file = followed.JSON200.BuyerSuppressionFile
	}

	begun, err := api.CreateCallSessionWithResponse(ctx, nil, trunkline.CallSessionCreate{
		OfferId: ptr(os.Getenv("OFFER_ID")), CallerNumber: ptr("+13105550177")})
	check(err)
	call := begun.JSON201.CallSession
	decided, err := api.ShowCallDecisionWithResponse(ctx, call.Uuid.String())
	check(err)
	dialed := []string{}
	for _, buyer := range call.Instruction.Dial {
		dialed = append(dialed, *buyer.Name)
	}
	chosen := [][]any{}
	for _, candidate := range decided.JSON200.Decisions[0].Candidates {
		chosen = append(chosen, []any{*candidate.Name, candidate.Chosen})
	}

	output, err := json.Marshal(map[string]any{
		"created":  []any{*made.JSON201.Buyer.Name, *again.JSON201.Buyer.Id == *made.JSON201.Buyer.Id},
		"shown":    *shown.JSON200.Buyer.Name,
		"pages":    pages,
		"lead":     []any{*lead.CallerId, lead.Data},
		"imported": []any{*file.Status, *file.ImportCount, *file.RejectedCount},
		"call":     []any{call.Instruction.Action, dialed},
		"decision": chosen,
		"problem":  []any{problem.Status, slices.Collect(maps.Keys(problem.Errors))},
	})
	check(err)
	fmt.Println(string(output))
}
