// A program of a user of the Go client; docs/sdk.md shows the region.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	trunkline "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	// #region docs
	config := trunkline.NewConfiguration()
	config.Servers = trunkline.ServerConfigurations{{URL: os.Getenv("TRUNKLINE_URL")}}
	ctx := context.WithValue(context.Background(), trunkline.ContextBasicAuth, trunkline.BasicAuth{
		UserName: os.Getenv("TRUNKLINE_KEY"), Password: os.Getenv("TRUNKLINE_SECRET")})
	buyers := trunkline.NewAPIClient(config).BuyersAPI
	text := trunkline.PtrString
	coast := trunkline.BuyerCreate{Name: text("Coast"), Number: text("+13105550123")}
	made, _, err := buyers.CreateBuyer(ctx).IdempotencyKey("coast-1").BuyerCreate(coast).Execute()
	check(err) // ends the program, unless it is nil
	rename := trunkline.BuyerUpdate{Name: text("Coast Legal")}
	_, _, err = buyers.UpdateBuyer(ctx, made.Buyer.GetUuid()).BuyerUpdate(rename).Execute()
	page, _, err := buyers.ListBuyers(ctx).Cursor(-1).PerPage(2).Execute()
	wrong := trunkline.BuyerCreate{Name: text("Coast"), Number: text("555")}
	_, _, err = buyers.CreateBuyer(ctx).BuyerCreate(wrong).Execute()
	problem := err.(*trunkline.GenericOpenAPIError).Model().(trunkline.Problem)
	// #endregion

	again, _, err := buyers.CreateBuyer(ctx).IdempotencyKey("coast-1").BuyerCreate(coast).Execute()
	check(err)
	shown, _, err := buyers.ShowBuyer(ctx, made.Buyer.GetUuid()).Execute()
	check(err)

	pages := [][]string{}
	for next := page; ; {
		names := []string{}
		for _, buyer := range next.Buyers {
			names = append(names, buyer.GetName())
		}
		pages = append(pages, names)
		if next.Metadata.NextCursor == 0 {
			break
		}
		next, _, err = buyers.ListBuyers(ctx).Cursor(next.Metadata.NextCursor).PerPage(2).Execute()
		check(err)
	}

	api := trunkline.NewAPIClient(config)
	// The constructor sets what the contract declares as defaults.
	schedule := trunkline.NewScheduleUpdate()
	schedule.SetName("New")
	id := os.Getenv("SCHEDULE_ID")
	_, _, err = api.SchedulesAPI.UpdateSchedule(ctx, id).ScheduleUpdate(*schedule).Execute()
	check(err)

	submission := trunkline.LeadSubmission{
		LeadToken: text(os.Getenv("LEAD_TOKEN")),
		CallerId:  text("(310) 555-0177"),
		Data:      map[string]interface{}{"first_name": "Ann"},
	}
	submitted, _, err := api.LeadsAPI.SubmitLead(ctx).LeadSubmission(submission).Execute()
	check(err)

	check(os.WriteFile("numbers.csv", []byte("6175550144\nnone\n"), 0o600))
	csv, err := os.Open("numbers.csv")
	check(err)
	sent, _, err := api.BuyerSuppressionFilesAPI.CreateBuyerSuppressionFile(ctx).
		BuyerSuppressionId(os.Getenv("SUPPRESSION_ID")).ImportFile(csv).Execute()
	check(err)
	file := sent.BuyerSuppressionFile
	for file.GetStatus() == "pending" || file.GetStatus() == "running" {
		time.Sleep(100 * time.Millisecond)
		id := fmt.Sprint(file.GetId())
		followed, _, err := api.BuyerSuppressionFilesAPI.ShowBuyerSuppressionFile(ctx, id).Execute()
		check(err)
		file = followed.BuyerSuppressionFile
	}

	begin := trunkline.NewCallSessionCreate()
	begin.SetOfferId(os.Getenv("OFFER_ID"))
	begin.SetCallerNumber("+13105550177")
	begun, _, err := api.CallSessionsAPI.CreateCallSession(ctx).CallSessionCreate(*begin).Execute()
	check(err)
	call := begun.CallSession
	decided, _, err := api.RoutingAPI.ShowCallDecision(ctx, call.GetUuid()).Execute()
	check(err)
	dialed := []string{}
	for _, dial := range call.Instruction.Dial {
		dialed = append(dialed, dial.GetName())
	}
	candidates := [][]any{}
	for _, buyer := range decided.Decisions[0].Candidates {
		candidates = append(candidates, []any{buyer.GetName(), buyer.GetChosen()})
	}

	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"created":  []any{made.Buyer.GetName(), again.Buyer.GetId() == made.Buyer.GetId()},
		"shown":    shown.Buyer.GetName(),
		"pages":    pages,
		"lead":     []any{submitted.Lead.GetCallerId(), submitted.Lead.Data},
		"imported": []any{file.GetStatus(), file.GetImportCount(), file.GetRejectedCount()},
		"call":     []any{call.Instruction.GetAction(), dialed},
		"decision": candidates,
		"problem":  []any{problem.GetStatus(), slices.Collect(maps.Keys(problem.Errors))},
	}))
}
